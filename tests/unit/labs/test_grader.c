/*
 * test_grader.c — what `make grade` reads and writes: submissions, which PTX is the same, the
 * roster, cells of CSV, whose fault an ending is, and reports.
 */
#define _GNU_SOURCE
#include "common/tools/labs/grader/grader.h"
#include "common/tools/labs/score.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which PTX counts as the same ------------------------------------------------------------ */

static const char kernel[] = ".visible .entry _Z4scanPf(\n"
                             "\t.param .u64 _Z4scanPf_param_0\n)\n{\n"
                             "\t.reg .b32 %r<3>;\n"
                             "\t.loc 1 7 3\n"
                             "$L__BB0_1:\n"
                             "\tmov.u32 %r1, %tid.x;\n"
                             "\tadd.s32 %r2, %r1, 1;\n"
                             "\tbra $L__BB0_1;\n}\n";

/* The kernel with one text in place of another, everywhere. */
static char *with(const char *from, const char *to)
{
    char *text = calloc(1, 4 * sizeof kernel), *end = text;
    for (const char *at = kernel; *at != '\0';) {
        if (strncmp(at, from, strlen(from)) == 0) {
            end = stpcpy(end, to);
            at += strlen(from);
        } else {
            *end++ = *at++;
        }
    }
    cr_assert(strcmp(text, kernel) != 0, "%s is not there", from);
    return text;
}

static int same(const char *from, const char *to)
{
    uint64_t own[2], other[2];
    char *text = with(from, to);
    same_ptx(NULL, kernel, strlen(kernel), own);
    same_ptx(NULL, text, strlen(text), other);
    free(text);
    return memcmp(own, other, sizeof own) == 0;
}

Test(same_ptx, names_do_not_matter)
{
    cr_assert(same("%r", "%other"));
    cr_assert(same("$L__BB0_1", "$L__BB7_12"));
    cr_assert(same("_Z4scanPf", "_Z9prefixsumPf"));
}

Test(same_ptx, lines_comments_and_blanks_do_not_matter)
{
    cr_assert(same(".loc 1 7 3", ".loc 2 99 1"));
    cr_assert(same(".loc 1 7 3", "// a comment"));
    cr_assert(same(".loc 1 7 3", "/* a\n comment */"));
    cr_assert(same("\tadd.s32 %r2, %r1, 1;", "  add.s32   %r2,%r1,1 ;"));
    cr_assert(same("\t.loc 1 7 3\n", ".file 1 \"/etc/passwd\"\n"));
}

Test(same_ptx, instructions_matter)
{
    cr_assert(!same("add.s32", "sub.s32"));
    cr_assert(!same(", 1;", ", 2;"));
    cr_assert(!same("%tid.x", "%ctaid.x"));
    cr_assert(!same("%tid", "%laneid"));
    cr_assert(!same("add.s32 %r2, %r1, 1", "add.s32 %r1, %r2, 1"));
    cr_assert(!same("\tbra $L__BB0_1;\n", ""));
}

/* Two texts, by the kernels of lab 5, which are scan_block and uniform_add. */
static int same_for_lab(const char *left, const char *right)
{
    uint64_t own[2], other[2];
    same_ptx(lab_find(5), left, strlen(left), own);
    same_ptx(lab_find(5), right, strlen(right), other);
    cr_assert(own[0] != 0 && other[0] != 0);
    return memcmp(own, other, sizeof own) == 0;
}

#define SCAN  ".visible .entry scan_block(.param .u64 a) { .reg .b32 %r<2>; mov.u32 %r1, 1; }\n"
#define ADD   ".visible .entry uniform_add(.param .u64 b) { bar.sync 0; ret; }\n"
#define OTHER ".visible .entry other() { { trap; } ret; }\n"
#define CALL  ".visible .entry scan_block() { call _Z1fv, (); ret; }\n"

/* What can be added to a copy without any effect. */
Test(same_ptx, what_is_not_launched_does_not_matter)
{
    cr_expect(same_for_lab(SCAN ADD, ADD SCAN));
    cr_expect(same_for_lab(SCAN ADD, ".version 9.0\n" OTHER ADD OTHER SCAN));
    cr_expect(same_for_lab(SCAN ADD, ".visible .global .align 4 .b8 unused[4];\n" SCAN ADD));
    cr_expect(same_for_lab(SCAN ADD, ".func _Z1fv() { trap; }\n" SCAN ADD));
    cr_expect_not(same_for_lab(SCAN ADD, SCAN));
    cr_expect_not(same_for_lab(SCAN OTHER, ADD OTHER));
}

/* A function that is called belongs to the kernel, wherever it stands. */
Test(same_ptx, called_functions_matter)
{
    const char *const traps = ".func (.param .b32 r) _Z1fv() { trap; }\n" CALL;
    cr_expect(same_for_lab(traps, ".func _Z1fv();\n" CALL ".func _Z1fv() { trap; }\n"));
    cr_expect_not(same_for_lab(traps, ".func (.param .b32 r) _Z1fv() { exit; }\n" CALL));
    cr_expect_not(same_for_lab(traps, ".extern .func _Z1fv();\n" CALL));
    /* One that calls itself. */
    cr_expect(
        same_for_lab(CALL ".func _Z1fv() { call _Z1fv; }", ".func _Z1fv() { call _Z1fv; }" CALL));
}

/* Any bytes do. Without a kernel nothing is the same. */
Test(same_ptx, what_is_no_ptx)
{
    static const char *const texts[] = {"",         "/* no end",    "\xff%$_\n.section", ".entry",
                                        ".entry {", ".func (",      ".func f",           ".func f(",
                                        ".entry }", "entry f() { }"};
    uint64_t bits[2];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]);
        char *copy = malloc(size ? size : 1); /* so that sanitizers see a read behind it */
        memcpy(copy, texts[i], size);
        same_ptx(NULL, copy, size, bits);
        free(copy);
        cr_expect(bits[0] == 0 || strchr(texts[i], '{') != NULL, "%s", texts[i]);
    }
    same_ptx(NULL, "\0.entry\0{\0", 11, bits);
}

/* ---- which line of a CUDA file stands in an `if`? -------------------------------------------- */

/* Of each line that has a barrier: the end of its comment says whether it stands in a branch. */
static const char source[] = "#define IF if (x) {\n"
                             "__global__ void k(int n)\n"
                             "{\n"
                             "    __syncthreads(); // out\n"
                             "    if (n > 1) { // if (n) {\n"
                             "        n = 2;\n"
                             "        __syncthreads(); // in\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        if (i) n++;\n"
                             "        __syncthreads(); // out\n"
                             "        if (i < 3)\n"
                             "            __syncthreads(); // in\n"
                             "        else {\n"
                             "            while (n)\n"
                             "            {\n"
                             "                __syncthreads(); // in\n"
                             "            }\n"
                             "        }\n"
                             "        if (i < 4) __syncthreads(); // in\n"
                             "        /* if (n) { */ __syncthreads(); // out\n"
                             "        iffy = 1; __syncthreads(); // out\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "}\n";

Test(in_branch, braces_and_statements_without_them)
{
    FILE *file = fmemopen((void *)(uintptr_t)source, sizeof source - 1, "r");
    cr_assert(file);
    unsigned line = 1, barriers = 0;
    for (const char *text = source; *text; line++) {
        size_t length = strcspn(text, "\n");
        bool has_barrier = memmem(text, length, "__sync", 6) != NULL;
        bool is_in = text[length - 1] == 'n' && text[length - 2] == 'i';
        if (has_barrier) cr_expect_eq(is_in_branch(file, line), is_in, "line %u", line);
        barriers += has_barrier;
        text += length + 1;
    }
    cr_expect_eq(barriers, 10);
    cr_expect_not(is_in_branch(file, line + 1));
    fclose(file);
    cr_expect_not(is_in_branch(NULL, 7));
}

/* ---- what counts as a submission, and that nothing but regular files is read ----------------- */

static char class[] = "/tmp/upsweep-class-XXXXXX";
static struct submission *list;
static size_t count;

static void begin(void)
{
    cr_assert(mkdtemp(class) != NULL);
    cr_assert_eq(chdir(class), 0);
}

static void end(void)
{
    char command[64];
    free(list);
    snprintf(command, sizeof command, "rm -r %s", class);
    cr_assert_eq(system(command), 0);
}

TestSuite(submission, .init = begin, .fini = end, .timeout = 20);

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void find(void)
{
    struct fault fault;
    free(list);
    cr_assert(submissions_find(class, 3, &list, &count, &fault) == 0, "%s", fault.text);
}

/* The reason why the only submission is refused. */
static const char *refusal(void)
{
    static char why[256];
    size_t size;
    find();
    cr_assert_eq(count, 1);
    why[0] = '\0';
    char *bytes = submission_read(class, &list[0], &size, why, sizeof why);
    cr_assert(bytes == NULL, "%s", bytes);
    return why;
}

Test(submission, files_and_folders_in_order)
{
    put("zoe.cu", "z");
    put("anna.cu", "a");
    cr_assert(mkdir("bob", 0755) == 0);
    put("bob/lab3.cu", "b");
    put(".hidden.cu", "h");
    put("._anna.cu", "macOS's");
    put(".DS_Store", "");
    find();
    cr_assert_eq(count, 4);
    for (size_t i = 0; i < count; i++) cr_expect(!list[i].unclear);
    cr_assert_str_eq(list[0].name, ".hidden");
    cr_assert_str_eq(list[0].id, "~2Ehidden");
    cr_assert_str_eq(list[1].name, "anna");
    cr_assert_str_eq(list[1].id, "anna");
    cr_assert_str_eq(list[2].name, "bob");
    cr_assert_str_eq(list[2].path, "bob/lab3.cu");
    cr_assert_str_eq(list[2].id, "bob");
    cr_assert_str_eq(list[3].name, "zoe");
}

Test(submission, a_file_is_read_with_all_its_bytes)
{
    FILE *file = fopen("anna.cu", "w");
    fwrite("a\0b", 1, 3, file);
    fclose(file);
    char why[64];
    size_t size;
    find();
    char *bytes = submission_read(class, &list[0], &size, why, sizeof why);
    cr_assert_eq(size, 3);
    cr_assert_eq(memcmp(bytes, "a\0b", 4), 0);
    free(bytes);
}

Test(submission, links_are_not_followed)
{
    cr_assert(mkdir("anna", 0755) == 0);
    cr_assert(symlink("/etc/passwd", "anna/lab3.cu") == 0);
    cr_assert_str_eq(refusal(), "What was handed in is a link, which is not followed.");
    cr_assert(unlink("anna/lab3.cu") == 0 && rmdir("anna") == 0);
    cr_assert(symlink("/etc", "anna") == 0);
    cr_assert_str_eq(refusal(), "What was handed in is a link, which is not followed.");
    cr_assert(unlink("anna") == 0);
    cr_assert(symlink("/etc/passwd", "anna.cu") == 0);
    cr_assert_str_eq(refusal(), "What was handed in is a link, which is not followed.");
}

Test(submission, what_is_no_regular_file_is_not_read)
{
    cr_assert(mkfifo("anna.cu", 0644) == 0);
    cr_assert_str_eq(refusal(), "What was handed in is not a regular file.");
    cr_assert(unlink("anna.cu") == 0 && mkdir("anna.cu", 0755) == 0);
    cr_assert_str_eq(refusal(), "What was handed in is not a regular file.");
    cr_assert(rmdir("anna.cu") == 0 && mkdir("anna", 0755) == 0);
    cr_assert_str_eq(refusal(), "The folder holds no file that ends in .cu.");
}

/* Names as Moodle and browsers make them. */
Test(submission, the_only_source_of_a_folder_is_taken)
{
    cr_assert(mkdir("Anna Müller_123_assignsubmission_file", 0755) == 0);
    put("Anna Müller_123_assignsubmission_file/lab3 (1).cu", "a");
    put("Anna Müller_123_assignsubmission_file/notes.txt", "");
    put("Anna Müller_123_assignsubmission_file/.hidden.cu", "");
    find();
    cr_assert_eq(count, 1);
    cr_assert_str_eq(list[0].name, "Anna Müller_123_assignsubmission_file");
    cr_assert_str_eq(list[0].path, "Anna Müller_123_assignsubmission_file/lab3 (1).cu");
    cr_assert_str_eq(list[0].id, "Anna~20M~C3~BCller_123_assignsubmission_file");
}

Test(submission, of_several_sources_the_labs_is_taken)
{
    cr_assert(mkdir("anna", 0755) == 0);
    put("anna/a.cu", "");
    put("anna/b.cu", "");
    cr_assert_str_eq(refusal(),
                     "The folder holds 2 files that end in .cu, and none of them is lab3.cu.");
    put("anna/lab3.cu", "a");
    find();
    cr_assert_eq(count, 1);
    cr_assert_str_eq(list[0].path, "anna/lab3.cu");
}

/* What is not taken is listed all the same, with the name of its student. */
Test(submission, what_is_not_taken_is_unclear)
{
    static const struct {
        const char *path, *name, *id, *why;
    } expected[] = {
        {"a.cu.txt", "a", "a.cu.txt~2F", "The name of the file does not end in .cu."},
        {"b.zip", "b", "b.zip~2F", "The name of the file does not end in .cu."},
        {"c/", "c", "c", "The folder holds no file that ends in .cu, but other files or folders."},
        {"d/", "d", "d", "The folder holds no file that ends in .cu, but other files or folders."},
        {"e/lab3.cu", "e", "e",
         "The folder holds 2 files that end in .cu, and none of them is lab3.cu."},
        {"notes", "notes", "notes~2F", "The name of the file does not end in .cu."},
    };
    put("a.cu.txt", ""), put("b.zip", ""), put("notes", "");
    cr_assert(mkdir("c", 0755) == 0 && mkdir("c/lab3", 0755) == 0);
    cr_assert(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
    put("c/lab3/lab3.cu", ""), put("d/lab3.zip", ""), put("e/1.cu", ""), put("e/2.cu", "");
    find();
    cr_assert_eq(count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        char why[256];
        size_t size;
        cr_expect(list[i].unclear);
        cr_expect_str_eq(list[i].path, expected[i].path);
        cr_expect_str_eq(list[i].name, expected[i].name);
        cr_expect_str_eq(list[i].id, expected[i].id);
        cr_expect_null(submission_read(class, &list[i], &size, why, sizeof why));
        cr_expect_str_eq(why, expected[i].why);
    }
}

Test(submission, a_file_and_a_folder_of_one_name_have_two_ids)
{
    put("anna.cu", "");
    cr_assert(mkdir("anna", 0755) == 0);
    put("anna/lab3.cu", "");
    find();
    cr_assert_eq(count, 2);
    cr_assert_str_eq(list[0].path, "anna.cu");
    cr_assert_str_eq(list[0].id, "anna");
    cr_assert_str_eq(list[1].path, "anna/lab3.cu");
    cr_assert_str_eq(list[1].id, "anna~2F");
    cr_assert_str_eq(list[1].name, list[0].name);
}

Test(submission, large_files_are_refused)
{
    put("anna.cu", "");
    cr_assert(truncate("anna.cu", SUBMISSION_BYTES + 1) == 0);
    cr_assert(strstr(refusal(), "256 KiB") != NULL);
    char why[64];
    size_t size;
    cr_assert(truncate("anna.cu", SUBMISSION_BYTES) == 0);
    char *bytes = submission_read(class, &list[0], &size, why, sizeof why);
    cr_assert(bytes != NULL && size == SUBMISSION_BYTES);
    free(bytes);
}

/* Two long names differ in their ids, also where the ids are cut. */
Test(submission, ids_are_safe_and_different)
{
    char name[NAME_MAX + 1];
    memset(name, '<', sizeof name);
    strcpy(name + 200, "1.cu");
    put(name, "");
    strcpy(name + 200, "2.cu");
    put(name, "");
    put("-rf $(x).cu", "");
    find();
    cr_assert_eq(count, 3);
    cr_assert_str_eq(list[0].id, "~2Drf~20~24~28x~29");
    cr_assert_str_neq(list[1].id, list[2].id);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(strspn(list[i].id, "~-0123456789abcdefxrCDEF"), strlen(list[i].id), "%s",
                     list[i].id);
}

Test(submission, a_missing_folder_is_said)
{
    struct fault fault;
    cr_assert_eq(submissions_find("/does/not/exist", 3, &list, &count, &fault), EXIT_USAGE);
    cr_assert(strstr(fault.text, "/does/not/exist cannot be read") != NULL, "%s", fault.text);
}

/* ---- the roster ------------------------------------------------------------------------------ */

static char path[] = "/tmp/upsweep-roster-XXXXXX";
static struct roster roster;
static struct fault fault;

static void make_roster(void) { close(mkstemp(path)); }

static void end_roster(void)
{
    roster_end(&roster);
    unlink(path);
}

TestSuite(roster, .init = make_roster, .fini = end_roster);

static int read_text(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    roster_end(&roster);
    return roster_read(path, &roster, &fault);
}

static void expect(const char *submission, const char *name)
{
    size_t at = roster_find(&roster, submission);
    cr_assert_str_eq(at == roster.count ? "nobody" : roster.names[at], name);
}

Test(roster, one_name_a_line)
{
    cr_assert_eq(read_text("\uFEFFAnna Berg\r\n\n# 2026\n  Zoë \nBob"), 0);
    cr_assert_eq(roster.count, 3);
    cr_assert_str_eq(roster.names[0], "Anna Berg");
    cr_assert_str_eq(roster.names[1], "Zoë");
    cr_assert_str_eq(roster.names[2], "Bob");
}

Test(roster, an_identifier_stands_after_a_tab)
{
    cr_assert_eq(read_text("Anna Berg \t a@x.org \t7\nBob\nZo\u00eb\tBob Z\n"), 0);
    cr_assert_str_eq(roster.names[0], "Anna Berg");
    cr_assert_str_eq(roster.identifiers[0], "a@x.org ");
    cr_assert_str_eq(roster.identifiers[1], "Bob");
    cr_assert_str_eq(roster.identifiers[2], "Bob Z");
    cr_assert_eq(read_text("Anna\t7\nBob\t7\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "line 2") && strstr(fault.text, "\"7\""), "%s", fault.text);
}

Test(roster, a_submission_belongs_to_the_longest_name_that_it_begins_with)
{
    cr_assert_eq(read_text("Anna\nAnna Berg\nbergb\nZo\n"), 0);
    expect("Anna", "Anna");
    expect("Anna Berg", "Anna Berg");
    expect("Anna Berg_123_assignsubmission_file", "Anna Berg");
    expect("Anna_7_assignsubmission_file_", "Anna");
    expect("Anna Bergmann_7_assignsubmission_file", "nobody");
    expect("bergb_LATE_123_456_lab3-1", "bergb");
    expect("bergb2", "nobody");
    expect("Annabel", "nobody");
    expect("Zoë", "nobody");
    expect("", "nobody");
}

Test(roster, what_is_wrong_is_said)
{
    cr_assert_eq(read_text("Anna\nBob\nAnna\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "line 3 of ") != NULL, "%s", fault.text);
    cr_assert_eq(read_text("# nothing\n\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "holds no name") != NULL, "%s", fault.text);
    cr_assert_eq(roster_read("/nowhere", &roster, &fault), EXIT_USAGE);
    cr_assert_eq(roster_read("/tmp", &roster, &fault), EXIT_USAGE);
    cr_assert(strstr(fault.text, "/tmp cannot be read") != NULL, "%s", fault.text);
}

/* \u0308 is two dots over the letter before it, and \u030A a ring. */
Test(roster, names_that_look_alike)
{
    static const struct {
        const char *student, *submission;
        bool alike;
    } pairs[] = {
        {"\u00c5sa \u00d6berg", "A\u030asa O\u0308berg_1_assignsubmission_file", true},
        {"A\u030asa", "\u00c5sa", true},
        {"M\u00dcLLER Jan", "M\u00fcller_jan", true},
        {"Anna Berg", "anna-berg", true},
        {"Ph\u1ea1m", "Pha\u0323m", true},
        {"Anna", "Annabel", false},
        {"Anna Berg", "Anna", false},
        {"\u674e\u660e", "\u738b\u82b3", false},
        {"M\u00fcller", "Muller", false},
        {"a\xff", "a\xfe", false},
        {"a\xe2\x82", "a\xe2", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        cr_expect_eq(roster_looks_alike(pairs[i].student, pairs[i].submission), pairs[i].alike,
                     "%s and %s", pairs[i].student, pairs[i].submission);
}

/* ---- cells of CSV ---------------------------------------------------------------------------- */

static char *text;
static size_t size;

static void free_text(void) { free(text); }

TestSuite(csv_cell, .fini = free_text);

static void expect_cell(const char *content, const char *cell)
{
    free(text);
    FILE *out = open_memstream(&text, &size);
    csv_cell(out, content);
    fclose(out);
    cr_assert_str_eq(text, cell);
}

Test(csv_cell, ordinary_texts_stay_as_they_are)
{
    expect_cell("", "\"\"");
    expect_cell("Zoë O'Neil", "\"Zoë O'Neil\"");
    expect_cell("n = 2: element 1 is -3, not 4; a - b", "\"n = 2: element 1 is -3, not 4; a - b\"");
    expect_cell("say \"hello\"", "\"say \"\"hello\"\"\"");
}

Test(csv_cell, a_formula_at_the_beginning_or_behind_any_separator_becomes_a_text)
{
    expect_cell("=1+1", "\"'=1+1\"");
    expect_cell("+1", "\"'+1\"");
    expect_cell("-rf", "\"'-rf\"");
    expect_cell("@SUM(A1)", "\"'@SUM(A1)\"");
    expect_cell("  =1", "\"  '=1\"");
    expect_cell("\xC2\xA0\xE3\x80\x80=1", "\"\xC2\xA0\xE3\x80\x80'=1\"");
    expect_cell("\"=1", "\"\"\"'=1\"");
    expect_cell("\t=1", "\"\\t=1\"");
    /* Wide forms are formulas, too. */
    expect_cell("\uFF1D1", "\"'\uFF1D1\"");
    expect_cell("\uFF0B1", "\"'\uFF0B1\"");
    expect_cell("\uFF0D1", "\"'\uFF0D1\"");
    expect_cell("\uFF20A", "\"'\uFF20A\"");
    /* The quotes do not hold where lines are split at another character than the comma. */
    expect_cell("x;=HYPERLINK(1)", "\"x;'=HYPERLINK(1)\"");
    expect_cell("x; \"=1", "\"x; \"\"'=1\"");
    expect_cell("x,+1", "\"x,'+1\"");
    expect_cell("x|@A1", "\"x|'@A1\"");
    expect_cell("x;;\uFF1D1", "\"x;;'\uFF1D1\"");
    expect_cell("x;y=1", "\"x;y=1\"");
}

/* ---- whose fault an ending is ---------------------------------------------------------------- */

static struct outcome outcome;

/* Whether an ending says all, so that the program's own result does not count. */
static bool ends(enum sandbox_ending ending, int status, int descriptor)
{
    const struct sandbox_result result = {ending, status, descriptor};
    memset(&outcome, 0, sizeof outcome);
    return outcome_of_ending(&result, "bwrap: no\nmore", "the compiler", &outcome);
}

static void expect_outcome(enum outcome_kind kind, const char *why)
{
    cr_assert_eq(outcome.kind, kind);
    cr_assert_str_eq(outcome.why, why);
}

Test(grade_outcome, what_a_submission_makes_a_program_do_is_its_fault)
{
    cr_assert(ends(SANDBOX_OUTPUT, 0, SANDBOX_RESULTS));
    expect_outcome(OUTCOME_REFUSED,
           "With this file, the compiler leaves more bytes than any solution needs.");
    cr_assert(ends(SANDBOX_OUTPUT, 0, 2));
    expect_outcome(OUTCOME_REFUSED, "With this file, the compiler prints too many messages.");
    cr_assert(ends(SANDBOX_MEMORY, 0, 0));
    expect_outcome(OUTCOME_REFUSED, "With this file, the compiler needs too much memory.");
    cr_assert(ends(SANDBOX_IDLE, 0, 0));
    expect_outcome(OUTCOME_REFUSED,
                   "With this file, the compiler waits for something that never comes.");
}

/* A busy machine, or a sandbox that does not start, costs no points. */
Test(grade_outcome, what_the_machine_does_is_the_graders_failure)
{
    cr_assert(ends(SANDBOX_WALL, 0, 0));
    expect_outcome(OUTCOME_FAILED,
           "The time for the compiler is over; this machine is too busy or too slow.");
    cr_assert(ends(SANDBOX_NOT_BEGUN, 1, 0));
    expect_outcome(OUTCOME_FAILED, "The sandbox did not start: bwrap: no");
    cr_assert(ends(SANDBOX_EXITED, 125, 0));
    expect_outcome(OUTCOME_FAILED, "The sandbox did not start: bwrap: no");
    /* A program that has ended by itself speaks for itself. */
    cr_assert_not(ends(SANDBOX_EXITED, 0, 0));
    cr_assert_not(ends(SANDBOX_EXITED, 1, 0));
    cr_assert_not(ends(SANDBOX_EXITED, 139, 0));
}

/* 64 processors and 16 GiB are eight jobs of 2 GiB; there is always one. */
Test(grade_outcome, memory_bounds_the_number_of_jobs)
{
    const uint64_t gibibyte = 1 << 30;
    cr_expect_eq(jobs_within(64, 16 * gibibyte), 8);
    cr_expect_eq(jobs_within(4, 16 * gibibyte), 4);
    cr_expect_eq(jobs_within(4, gibibyte), 1);
    cr_expect_eq(jobs_within(4, 0), 1);
    cr_expect_eq(jobs_within(4, UINT64_MAX), 4);
    cr_expect_geq(jobs_here(), 1);
}

/* ---- reports --------------------------------------------------------------------------------- */

#define EVIL "<script>&\"'\x1b[31m\xff"

static struct lab_verdict verdict;
static struct grader grader;
static struct submission submission = {.name = EVIL, .path = EVIL ".cu", .id = "id"};
static char *printed;
static size_t text_size;

/* A verdict with evil texts; line 2 of the source has lost points. */
static void make_verdict(void)
{
    verdict.lab = lab_find(3);
    verdict.status = VERDICT_JUDGED;
    verdict.points = 12.5;
    verdict.most = 100;
    verdict.cases = verdict.right_cases = 20;
    verdict.size_count = 1;
    verdict.sizes[0].n = 64;
    snprintf(verdict.sizes[0].wrong, VERDICT_TEXT, "wrong " EVIL);
    verdict.line_count = 2;
    for (size_t i = 0; i < verdict.line_count; i++) {
        verdict.lines[i].lost = 3 + (double)i;
        verdict.lines[i].line = 2;
        verdict.lines[i].chapter = "notes/03-work-efficient.md";
        snprintf(verdict.lines[i].text, VERDICT_TEXT, "reason %zu " EVIL, i);
    }
    strcpy(verdict.lines[0].file, SOURCE_NAME);
    strcpy(verdict.lines[1].file, EVIL);
}

static void free_printed(void) { free(printed); }

TestSuite(grade_report, .init = make_verdict, .fini = free_printed);

static void print(void (*report)(FILE *, const struct report *), const char *source)
{
    const struct report all = {.grader = &grader,
                               .submission = &submission,
                               .verdict = &verdict,
                               .messages = "message " EVIL "\n",
                               .source = source,
                               .source_size = strlen(source)};
    FILE *out = open_memstream(&printed, &text_size);
    report(out, &all);
    fclose(out);
}

static void expect_part(const char *part)
{
    cr_assert(strstr(printed, part) != NULL, "no %s in %s", part, printed);
}

static void expect_nothing_evil(void)
{
    cr_assert(strchr(printed, '\x1b') == NULL, "%s", printed);
    cr_assert(strchr(printed, '\xff') == NULL, "%s", printed);
}

Test(grade_report, a_page_escapes_all_texts)
{
    print(report_html, "line one\n\tif (a < b) " EVIL "\r\n");
    expect_nothing_evil();
    cr_assert(strstr(printed, "<script") == NULL, "%s", printed);
    expect_part("&lt;script&gt;&amp;&quot;&#39;\\x1b[31m\\xff");
    expect_part("<span id=\"line1\"><i>1</i>line one</span>");
    expect_part("<span id=\"line2\" class=\"lost\"><i>2</i>    if (a &lt; b) &lt;script&gt;");
    expect_part("<a href=\"#line2\">line 2</a>: 3.00 points");
    cr_assert(strstr(printed, "\\r") == NULL, "%s", printed);
}

Test(grade_report, a_page_without_sizes_has_no_table_of_them)
{
    print(report_html, "");
    expect_part("bank conflicts</th>");
    free(printed);
    verdict.size_count = 0;
    print(report_html, "");
    cr_assert(strstr(printed, "bank conflicts</th>") == NULL, "%s", printed);
}

/* Places in other files than the submission mark nothing. */
Test(grade_report, claims_of_other_files_mark_nothing)
{
    print(report_html, "one\ntwo\n");
    expect_part("<b>3.00 points");
    cr_assert(strstr(printed, "<b>4.00 points") == NULL, "%s", printed);
}

Test(grade_report, a_text_is_safe_for_a_terminal)
{
    print(report_text, "");
    expect_nothing_evil();
    expect_part("Report for <script>&\"'\\x1b[31m\\xff");
    expect_part("    message <script>&\"'\\x1b[31m\\xff\n");
    expect_part("reason 0 ");
}

Test(grade_report, a_row_has_the_greatest_loss_as_its_reason)
{
    FILE *out = open_memstream(&printed, &text_size);
    csv_verdict(out, &verdict);
    fclose(out);
    cr_assert_str_eq(printed, "12.50,100.00,20,20,0.0000,0.0000,0.0000,0.0000,"
                           "\"reason 1 <script>&\"\"'\\x1b[31m\\xff\"");
}

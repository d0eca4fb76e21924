/* lines.c — the source lines that counts belong to, in modules with several functions. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE "ld.param.u64 %l, [p];\ncvta.to.global.u64 %l, %l;\nst.global.u32 [%l], 1;\n"
#define FUNCTION(name, body)                                                                       \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %l;\n" body "ret;\n}\n"
#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* Launches a kernel of one thread, and returns its record. */
static const struct emu_launch_record *record_of(struct emu *emu, const char *text,
                                                 const char *name)
{
    emu_addr out = device_copy(emu, NULL, 4);
    emu_forget(emu);
    cr_assert(!launch(emu, load_kernel(emu, text, name), 1, 1, 0, 1, (uint64_t[]){out}), "%s",
              emu_message(emu));
    return emu_record(emu, 0);
}

/* Line marks hold until the end of their function, not in the next one. */
Test(emu_lines, of_one_function_are_not_the_next_ones)
{
    static const char text[] = PTX_HEADER FUNCTION("first", ".loc 1 7 3\n" STORE)
        FUNCTION("second", STORE) FUNCTION("third", STORE ".loc 2 9 1\n" STORE) FILES;
    struct emu *emu = open_emu();
    emu_count(emu, true);
    const struct emu_launch_record *r = record_of(emu, text, "first");
    cr_assert_eq(r->line_count, 1);
    cr_expect(!strcmp(r->lines[0].file, "one.cu") && r->lines[0].line == 7);
    cr_expect_eq(r->lines[0].counts.global_st.requests, 1);
    r = record_of(emu, text, "second");
    cr_expect_eq(r->line_count, 0);
    cr_expect_eq(r->total.global_st.requests, 1);
    r = record_of(emu, text, "third");
    cr_assert_eq(r->line_count, 1);
    cr_expect(!strcmp(r->lines[0].file, "two.cu") && r->lines[0].line == 9);
    cr_expect_eq(r->lines[0].counts.global_st.requests, 1);
    cr_expect_eq(r->total.global_st.requests, 2);
    emu_close(emu);
}

/* Lines are in order of file and number, for any order of the marks. Counts of a line's marks are
 * added up. */
Test(emu_lines, are_in_order)
{
    static const char text[] = PTX_HEADER FUNCTION(
        "k", "ld.param.u64 %l, [p];\n.loc 2 5 1\nst.global.u32 [%l], 1;\n"
             ".loc 1 300 1\nst.global.u32 [%l], 1;\n.loc 2 4 1\nst.global.u32 [%l], 1;\n"
             ".loc 1 20 1\nst.global.u32 [%l], 1;\n.loc 2 5 9\nst.global.u32 [%l], 1;\n") FILES;
    static const struct {
        const char *file;
        unsigned line, stores;
    } expected[] = {{"one.cu", 20, 1}, {"one.cu", 300, 1}, {"two.cu", 4, 1}, {"two.cu", 5, 2}};
    struct emu *emu = open_emu();
    emu_count(emu, true);
    const struct emu_launch_record *r = record_of(emu, text, "k");
    cr_assert_eq(r->line_count, 4);
    for (int i = 0; i < 4; i++) {
        cr_expect_str_eq(r->lines[i].file, expected[i].file);
        cr_expect_eq(r->lines[i].line, expected[i].line);
        cr_expect_eq(r->lines[i].counts.global_st.requests, expected[i].stores);
    }
    emu_close(emu);
}

/* nvcc writes bytes that are not ASCII as octal numbers, and others as C does. */
Test(emu_lines, names_of_files_have_escapes)
{
    static const char *const cases[][2] = {{"/d\\303\\251/\\303\\261.cu", "/d\303\251/\303\261.cu"},
                                           {"a\\\\b.cu", "a\\b.cu"},
                                           {"a\\\"b.cu", "a\"b.cu"},
                                           {"a\\tb\\n\\0011.cu", "a\tb\n\0011.cu"},
                                           {"a\\", NULL}};
    char text[500];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        emu_count(emu, true);
        snprintf(text, sizeof text, PTX_HEADER "%s.file 1 \"%s\"\n",
                 FUNCTION("k", ".loc 1 7 3\n" STORE), cases[i][0]);
        if (cases[i][1])
            cr_expect_str_eq(record_of(emu, text, "k")->lines[0].file, cases[i][1]);
        else
            cr_expect_eq(emu_load(emu, text, strlen(text), "k", &module), EMU_INVALID_PTX);
        emu_close(emu);
    }
}

static char *append(char *end, const char *text)
{
    size_t length = strlen(text);
    memcpy(end, text, length + 1);
    return end + length;
}

/* The text of a kernel that stores behind the marks `first`, `mark` (repeated), and `last`. */
static char *text_with_marks(const char *first, const char *mark, size_t times, const char *last)
{
    enum { REST = 1000 };
    char *text = malloc(strlen(first) + times * strlen(mark) + strlen(last) + REST), *at = text;
    cr_assert(text);
    at = append(at, PTX_HEADER ".visible .entry k(.param .u64 p) {\n.reg .b64 %l;\n");
    at = append(at, first);
    for (size_t n = 0; n < times; n++) at = append(at, mark);
    at = append(at, last);
    append(at, STORE "ret;\n}\n.file 1 \"one.cu\"\n.file 2 \"/include/head.h\"\n");
    return text;
}

/* Is all that the kernel counts of one line? Frees the text. */
static void expect_line(char *text, unsigned line)
{
    struct emu *emu = open_emu();
    emu_count(emu, true);
    const struct emu_launch_record *r = record_of(emu, text, "k");
    cr_assert_eq(r->line_count, 1);
    cr_expect_str_eq(r->lines[0].file, "one.cu");
    cr_expect_eq(r->lines[0].line, line);
    emu_close(emu);
    free(text);
}

/* nvcc writes the mark of an inlined call only once, possibly far above the code that was inlined
 * in it. */
Test(emu_lines, code_of_headers_is_counted_at_the_call_however_far_away)
{
    static const char other[] = ".loc 1 8 3\n.loc 2 60 3, function_name f, inlined_at 1 8 3\n";
    char *text = text_with_marks(".loc 1 7 3\n.loc 2 50 3, function_name f, inlined_at 1 7 3\n",
                                 other, 100, ".loc 2 80 3, function_name g, inlined_at 2 50 3\n");
    expect_line(text, 7);
}

/* If two calls led to one place, the call that was marked last counts. */
Test(emu_lines, of_two_inlined_calls_the_last_named_is_taken)
{
    char *text =
        text_with_marks(".loc 1 7 3\n.loc 2 50 3, function_name f, inlined_at 1 7 3\n"
                        ".loc 1 9 3\n.loc 2 50 3, function_name f, inlined_at 1 9 3\n",
                        ".loc 1 7 3\n", 1, ".loc 2 80 3, function_name g, inlined_at 2 50 3\n");
    expect_line(text, 7);
}

/* PTX that nvcc never emits: code that is inlined into itself, at ever greater depth. */
Test(emu_lines, endless_chains_of_calls_are_cut_off_slow, .timeout = 20)
{
    char *text = text_with_marks(".loc 1 7 3\n.loc 2 1 1, function_name f, inlined_at 1 7 3\n",
                                 ".loc 2 1 1, function_name f, inlined_at 2 1 1\n", 50000, "");
    expect_line(text, 7);
}

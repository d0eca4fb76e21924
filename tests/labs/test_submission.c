/* test_submission.c — what counts as a submission, and that nothing but regular files is read. */
#define _GNU_SOURCE
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The only source is a link, or no file: it is taken, and then refused. */
Test(submission, the_only_source_of_a_folder_is_not_followed)
{
    cr_assert(mkdir("anna", 0755) == 0);
    cr_assert(symlink("/etc/passwd", "anna/x.cu") == 0);
    cr_assert_str_eq(refusal(), "What was handed in is a link, which is not followed.");
    cr_assert(unlink("anna/x.cu") == 0 && mkdir("anna/x.cu", 0755) == 0);
    cr_assert_str_eq(refusal(), "What was handed in is not a regular file.");
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

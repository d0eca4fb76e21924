/* test_output.c — the result as a file: complete, or not written at all. */
#define _GNU_SOURCE
#include "common/harness/print/print.h"

#include "common/harness/input/input.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/upsweep-output-XXXXXX";

static void enter_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static int count_files(void)
{
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));) count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void leave_folder(void)
{
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));) unlink(entry->d_name);
    closedir(here);
    rmdir(folder);
}

TestSuite(output, .init = enter_folder, .fini = leave_folder);

static struct fault fault;

static int write_floats(const char *path, const float *elements, size_t n)
{
    struct output output;
    fault = (struct fault){0};
    int code = output_check(path, &fault);
    if (!code) code = output_begin(&output, path, ELEMENT_F32, n, &fault);
    if (!code) code = output_add(&output, elements, n / 2, &fault);
    if (!code) code = output_add(&output, elements + n / 2, n - n / 2, &fault);
    return code ? code : output_end(&output, &fault);
}

static void expect_content(const char *path, const char *want)
{
    char got[200] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is not there", path);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(got, want);
}

static const float floats[] = {0, 1, -2.5f, 0.1f, 16777216};

Test(output, text)
{
    cr_assert_eq(write_floats("a.txt", floats, 5), 0, "%s", fault.text);
    expect_content("a.txt", "0\n1\n-2.5\n0.100000001\n16777216\n");
    cr_expect_eq(count_files(), 1);
}

Test(output, npy_can_be_read_again)
{
    struct input input;
    cr_assert_eq(write_floats("a.npy", floats, 5), 0, "%s", fault.text);
    cr_assert_eq(input_read(&input, ELEMENT_F32, "a.npy", 0, &fault), 0, "%s", fault.text);
    cr_expect_eq(input.n, 5);
    cr_expect_eq(memcmp(input.data, floats, sizeof floats), 0);
    input_free(&input);

    struct stat status;
    cr_assert_eq(stat("a.npy", &status), 0);
    cr_expect_eq((size_t)status.st_size, 128 + sizeof floats, "the elements begin at 128");
    FILE *file = fopen("a.npy", "rb");
    char header[129] = "";
    cr_assert_eq(fread(header, 1, 128, file), 128);
    fclose(file);
    cr_expect_eq(header[127], '\n');
    cr_expect(strstr(header + 10, "'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"));
}

/* An unsigned integer beyond the range of signed ones, as text and as .npy. */
Test(output, unsigned_integers)
{
    static const uint64_t large[] = {UINT64_MAX, 7};
    static const char *const paths[] = {"u.txt", "u.npy"};
    for (size_t i = 0; i < 2; i++) {
        struct output output;
        struct input input;
        cr_assert_eq(output_begin(&output, paths[i], ELEMENT_U64, 2, &fault), 0);
        cr_assert_eq(output_add(&output, large, 2, &fault), 0);
        cr_assert_eq(output_end(&output, &fault), 0);
        cr_assert_eq(input_read(&input, ELEMENT_U64, paths[i], 0, &fault), 0);
        cr_expect(input.n == 2 && memcmp(input.data, large, sizeof large) == 0, "%s", paths[i]);
        input_free(&input);
    }
    expect_content("u.txt", "18446744073709551615\n7\n");
    enum element element = ELEMENT_F32;
    cr_expect(input_npy_type("u.npy", &element) && element == ELEMENT_U64);
    cr_expect(!input_npy_type("u.txt", &element) && !input_npy_type("none.npy", &element));
}

/* The old file stays until the new one is complete, which then has the permissions of the old
 * one. */
Test(output, a_file_is_replaced_as_a_whole)
{
    struct output output;
    struct stat status;
    cr_assert_eq(write_floats("a.txt", floats, 1), 0);
    cr_assert_eq(chmod("a.txt", 0600), 0);
    cr_assert_eq(output_begin(&output, "a.txt", ELEMENT_F32, 2, &fault), 0);
    cr_assert_eq(output_add(&output, floats + 1, 2, &fault), 0);
    expect_content("a.txt", "0\n");
    cr_assert_eq(output_end(&output, &fault), 0);
    expect_content("a.txt", "1\n-2.5\n");
    cr_assert_eq(stat("a.txt", &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    cr_expect_eq(count_files(), 1);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0, "%s is not there", path);
    return status.st_mode & 07777;
}

/* A new file has the permissions that any program's new file has. A file that is replaced keeps its
 * permissions, for any umask. */
Test(output, permissions_are_those_of_the_umask_or_of_the_old_file)
{
    static const mode_t masks[] = {0, 022, 027, 077, 0137, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        umask(masks[i]);
        cr_assert_eq(write_floats("new.npy", floats, 5), 0, "%s", fault.text);
        cr_expect_eq(mode_of("new.npy"), 0666 & ~masks[i], "umask %o", masks[i]);
        cr_expect_eq(umask(masks[i]), masks[i], "the umask is another one afterwards");
        cr_assert_eq(unlink("new.npy"), 0);

        static const mode_t modes[] = {0600, 0666, 0640, 0755};
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            int old = open("old.txt", O_WRONLY | O_CREAT, 0600);
            cr_assert(old >= 0 && fchmod(old, modes[k]) == 0 && close(old) == 0);
            cr_assert_eq(write_floats("old.txt", floats, 1), 0, "%s", fault.text);
            cr_expect_eq(mode_of("old.txt"), modes[k], "umask %o", masks[i]);
            cr_assert_eq(unlink("old.txt"), 0);
        }
    }
    umask(022);
}

Test(output, what_is_abandoned_leaves_nothing)
{
    struct output output;
    cr_assert_eq(write_floats("a.txt", floats, 1), 0);
    cr_assert_eq(output_begin(&output, "a.txt", ELEMENT_F32, 2, &fault), 0);
    cr_assert_eq(output_add(&output, floats, 1, &fault), 0);
    output_abandon(&output);
    expect_content("a.txt", "0\n");
    cr_expect_eq(count_files(), 1);
}

Test(output, held_files_are_replaced_together)
{
    float one = 1;
    cr_assert_eq(write_floats("a", &one, 1), 0, "%s", fault.text);
    for (int code = EXIT_USAGE; code >= 0; code -= EXIT_USAGE) {
        float two = 2;
        output_hold();
        cr_assert_eq(write_floats("a", &two, 1), 0, "%s", fault.text);
        cr_assert_eq(write_floats("b", &two, 1), 0, "%s", fault.text);
        expect_content("a", "1\n");
        cr_expect_eq(access("b", F_OK), -1);
        cr_expect_eq(output_release(code, &fault), code);
        cr_expect_eq(count_files(), code ? 1 : 2);
    }
    expect_content("a", "2\n");
    expect_content("b", "2\n");
}

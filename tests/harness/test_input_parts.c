/*
 * test_input_parts.c — the parts of an input are the whole: of random numbers, and of .npy files.
 */
#define _GNU_SOURCE /* mkstemps */
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N 10007

/* Three parts, one of which is empty. */
static const struct input_part parts[] = {{0, 1, N}, {1, 4096, N}, {4097, 0, N}, {4097, 5910, N}};

/* Compares parts that `make` makes with the whole input that it makes. */
typedef int make_fn(struct input *, enum element, struct input_part, struct fault *);

static void expect_whole(make_fn *make, enum element element)
{
    struct input whole, some;
    struct fault fault;
    size_t size = element_size(element);
    cr_assert_eq(make(&whole, element, (struct input_part){0, N, N}, &fault), 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cr_assert_eq(make(&some, element, parts[i], &fault), 0, "%s", fault.text);
        cr_assert_eq(some.n, parts[i].count);
        cr_expect_arr_eq(some.data, (char *)whole.data + parts[i].first * size,
                         parts[i].count * size, "part %zu", i);
        input_free(&some);
    }
    input_free(&whole);
}

static int integers(struct input *input, enum element element, struct input_part part,
                    struct fault *fault)
{
    return input_generate_part(input, element, part, false, 3, fault);
}

static int reals(struct input *input, enum element element, struct input_part part,
                 struct fault *fault)
{
    return input_generate_part(input, element, part, true, 3, fault);
}

static int bits(struct input *input, enum element element, struct input_part part,
                struct fault *fault)
{
    return input_generate_bits_part(input, element, part, 3, fault);
}

Test(input_parts, random_numbers_of_parts_are_those_of_the_whole)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        expect_whole(integers, types[i]);
        expect_whole(bits, types[i]);
        if (element_is_real(types[i])) expect_whole(reals, types[i]);
    }
}

/* Fewer digits are left to a larger whole, also if the part is small. */
Test(input_parts, reals_of_a_part_have_the_quantum_of_the_whole)
{
    struct input some;
    struct fault fault;
    struct input_part part = {.first = 5, .count = 100, .whole = (size_t)1 << 22};
    cr_assert_eq(input_generate_part(&some, ELEMENT_F32, part, true, 1, &fault), 0);
    for (size_t i = 0; i < some.n; i++) {
        float scaled = ((float *)some.data)[i] * 0x1p20f;
        cr_expect_eq(scaled, (float)(int)scaled);
    }
    input_free(&some);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char part_path[] = "/tmp/upsweep-parts-XXXXXX.npy";

/* Makes a .npy file of N random elements, and takes some bytes off its end or adds some. */
static void make_file(enum element element, int more)
{
    struct input whole;
    struct output output;
    struct fault fault;
    int descriptor = mkstemps(part_path, 4);
    cr_assert_geq(descriptor, 0);
    cr_assert_eq(input_generate(&whole, element, N, false, 3, &fault), 0);
    cr_assert_eq(output_begin(&output, part_path, element, N, &fault), 0);
    cr_assert_eq(output_add(&output, whole.data, N, &fault), 0);
    cr_assert_eq(output_end(&output, &fault), 0);
    close(descriptor);
    input_free(&whole);
    cr_assert_eq(truncate(part_path, 128 + (off_t)(N * element_size(element)) + more), 0);
}

static void remove_file(void)
{
    unlink(part_path);
    memcpy(strrchr(part_path, '-') + 1, "XXXXXX", 6);
}

static int from_file(struct input *input, enum element element, struct input_part part,
                     struct fault *fault)
{
    struct npy_file file;
    int code = npy_file_open(&file, part_path, fault);
    if (code) return code;
    cr_expect_eq(file.header.n, N);
    code = npy_file_read(&file, input, element, part, fault);
    npy_file_close(&file);
    return code;
}

Test(input_parts, parts_of_a_file_are_the_file)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        make_file(types[i], 0);
        expect_whole(from_file, types[i]);
        expect_whole(from_file, ELEMENT_F64); /* converted */
        struct input read, made;
        struct fault fault;
        cr_assert_eq(from_file(&read, types[i], parts[3], &fault), 0);
        cr_assert_eq(integers(&made, types[i], parts[3], &fault), 0);
        cr_expect_arr_eq(read.data, made.data, read.n * element_size(types[i]));
        input_free(&read);
        input_free(&made);
        remove_file();
    }
}

static void expect_part_refused(const char *name, const char *text)
{
    struct npy_file file;
    struct fault fault = {0};
    cr_expect_eq(npy_file_open(&file, name, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, text), "expected \"%s\" in: %s", text, fault.text);
}

Test(input_parts, what_cannot_be_read_by_parts_is_refused)
{
    make_file(ELEMENT_F32, -1);
    expect_part_refused(
        part_path, "is truncated: its header promises 10007 elements, but the file has 10006.");
    remove_file();
    make_file(ELEMENT_F32, 1);
    expect_part_refused(part_path, "goes on after the 10007 elements that its header promises.");
    remove_file();
    make_file(ELEMENT_F32, 0);
    cr_assert_eq(truncate(part_path, 20), 0);
    expect_part_refused(part_path, "it ends within its header");
    cr_assert_eq(truncate(part_path, 0), 0);
    expect_part_refused(part_path, "is empty; there is nothing to scan.");
    remove_file();
    expect_part_refused("/tmp", "cannot read /tmp: Is a directory.");
    expect_part_refused("/dev/null", "/dev/null is no regular file, and cannot be read by parts");
    expect_part_refused("/nonexistent", "cannot open /nonexistent: No such file");
    expect_part_refused("README.md", "README.md is no .npy file, and text cannot be read by parts");
}

/* Has anything been written since the file was opened? Its time says so. */
Test(input_parts, a_file_that_changes_while_it_is_read_is_refused)
{
    struct npy_file file;
    struct input read;
    struct fault fault = {0};
    make_file(ELEMENT_F32, 0);
    cr_assert_eq(npy_file_open(&file, part_path, &fault), 0);
    cr_assert_eq(npy_file_read(&file, &read, ELEMENT_F32, parts[1], &fault), 0);
    input_free(&read);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    cr_assert_eq(utimensat(AT_FDCWD, part_path, times, 0), 0);
    cr_expect_eq(npy_file_read(&file, &read, ELEMENT_F32, parts[1], &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "was changed while it was read"), "%s", fault.text);
    cr_expect_null(read.data);
    npy_file_close(&file);
    remove_file();
}

/* The index in a message is that in the file. */
Test(input_parts, a_number_that_does_not_fit_is_named_by_its_place_in_the_file)
{
    struct input some;
    struct fault fault;
    struct output output;
    static double numbers[N];
    numbers[5000] = 0x1p200;
    int descriptor = mkstemps(part_path, 4);
    cr_assert_eq(output_begin(&output, part_path, ELEMENT_F64, N, &fault), 0);
    cr_assert_eq(output_add(&output, numbers, N, &fault), 0);
    cr_assert_eq(output_end(&output, &fault), 0);
    close(descriptor);
    cr_expect_eq(from_file(&some, ELEMENT_F32, parts[3], &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "number 5001, 1.6069380442589903e+60, is beyond"), "%s",
              fault.text);
    remove_file();
}

/*
 * test_input.c — inputs: text, .npy, random numbers, and how they are cut into parts.
 */
#define _GNU_SOURCE /* mkstemps */
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the parts of an input are the whole: of random numbers, and of .npy files --------------- */

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
    return input_generate_part(input, element, part, RANDOM_INTEGERS, 3, fault);
}

static int reals(struct input *input, enum element element, struct input_part part,
                 struct fault *fault)
{
    return input_generate_part(input, element, part, RANDOM_REALS, 3, fault);
}

static int bits(struct input *input, enum element element, struct input_part part,
                struct fault *fault)
{
    return input_generate_part(input, element, part, RANDOM_BITS, 3, fault);
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
    cr_assert_eq(input_generate_part(&some, ELEMENT_F32, part, RANDOM_REALS, 1, &fault), 0);
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
    cr_assert_eq(input_generate(&whole, element, N, RANDOM_INTEGERS, 3, &fault), 0);
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
    expect_part_refused("/tmp", "/tmp is no regular file, and cannot be read by parts");
    expect_part_refused("/dev/null", "/dev/null is no regular file, and cannot be read by parts");
    expect_part_refused("/nonexistent", "cannot open /nonexistent: No such file");
    expect_part_refused("README.md", "README.md is no .npy file, and text cannot be read by parts");
}

/* ---- random numbers, .npy files and text: what is read, and how the rest is refused ---------- */

static char path[] = "/tmp/upsweep-input-XXXXXX";
static struct input input; /* of the last file or numbers, to be freed */
static struct fault fault;

/* Writes bytes into a file of this test's own. */
static void write_file(const void *bytes, size_t length)
{
    static bool made;
    if (!made) close(mkstemp(path));
    made = true;
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    cr_assert_eq(fclose(file), 0);
}

static void forget_file(void) { unlink(path); }

TestSuite(input, .fini = forget_file);

static int read_bytes(const void *bytes, size_t length, enum element element)
{
    write_file(bytes, length);
    fault = (struct fault){0};
    return input_read(&input, element, path, 0, &fault);
}

static int read_text(const char *text) { return read_bytes(text, strlen(text), ELEMENT_F32); }

static void expect_refused(int code, const char *part)
{
    cr_expect_eq(code, EXIT_USAGE, "accepted, but expected: %s", part);
    cr_expect(strstr(fault.text, part), "\"%s\" does not say: %s", fault.text, part);
    cr_expect_null(strchr(fault.text, '\n'));
}

/* Also frees them. */
static void expect_floats(int code, const float *want, size_t n)
{
    cr_assert_eq(code, 0, "%s", fault.text);
    cr_assert_eq(input.n, n, "%zu numbers, not %zu", input.n, n);
    for (size_t i = 0; i < n; i++) {
        float got = ((float *)input.data)[i];
        cr_expect(got == want[i] || (isnan(got) && isnan(want[i])), "element %zu: %g", i, got);
    }
    input_free(&input);
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* A contiguous sum is the difference of two prefix sums, so the greatest one is the spread of
 * these. */
Test(input, random_integers_have_exact_sums_and_are_never_zero)
{
    const size_t n = 4000000;
    for (uint64_t seed = 0; seed < 3; seed++) {
        cr_assert_eq(input_generate(&input, ELEMENT_F32, n, RANDOM_INTEGERS, seed, &fault), 0);
        double sum = 0, low = 0, high = 0;
        for (size_t i = 0; i < n; i++) {
            double x = ((float *)input.data)[i];
            cr_assert(x != 0 && x == rint(x) && fabs(x) <= 500, "element %zu is %g", i, x);
            sum += x;
            if (sum < low) low = sum;
            if (sum > high) high = sum;
        }
        cr_expect_lt(high - low, 0x1p24);
        cr_expect_lt(fabs(sum / (double)n), 1, "mean %g", sum / (double)n);
        input_free(&input);
    }
}

Test(input, the_same_seed_gives_the_same_numbers_everywhere)
{
    struct input a, b, c;
    input_generate(&a, ELEMENT_F32, 100, RANDOM_INTEGERS, 1, &fault);
    input_generate(&b, ELEMENT_F32, 1000, RANDOM_INTEGERS, 1, &fault);
    input_generate(&c, ELEMENT_F32, 100, RANDOM_INTEGERS, 2, &fault);
    cr_expect_eq(memcmp(a.data, b.data, 400), 0);
    cr_expect_neq(memcmp(a.data, c.data, 400), 0);
    static const float first[] = {478, -375, 415, 408};
    cr_expect_eq(memcmp(a.data, first, sizeof first), 0);
    input_free(&a);
    input_free(&b);
    input_free(&c);
}

/* For n elements the quantum is 2^-digits, and no larger. */
static void expect_reals(enum element element, size_t n, int digits)
{
    cr_assert_eq(input_generate(&input, element, n, RANDOM_REALS, 1, &fault), 0);
    double sum = 0;
    size_t odd = 0;
    for (size_t i = 0; i < input.n; i++) {
        long double x;
        element_widen(element, input.data, i, 1, &x);
        long double quanta = ldexpl(x, digits);
        cr_assert(fabsl(x) >= 0.5L && fabsl(x) < 1 && quanta == rintl(quanta));
        odd += fmodl(fabsl(quanta), 2) == 1;
        sum += (double)x;
    }
    cr_expect_lt(fabs(sum / (double)n), 0.02);
    cr_expect_float_eq((double)odd / (double)n, 0.5, 0.05, "%d digits", digits);
    input_free(&input);
}

Test(input, random_reals_weigh_alike_and_have_a_quantum)
{
    expect_reals(ELEMENT_F32, 100000, 24);
    expect_reals(ELEMENT_F32, (size_t)1 << 18, 24);
    expect_reals(ELEMENT_F32, ((size_t)1 << 18) + 1, 23);
    expect_reals(ELEMENT_F32, (size_t)1 << 20, 22);
    expect_reals(ELEMENT_F64, 100000, 49);
    expect_reals(ELEMENT_F64, (size_t)1 << 20, 49);
}

/* ---- text ------------------------------------------------------------------------------------ */

Test(input, text)
{
    static const struct {
        const char *text;
        size_t n;
        float want[6];
    } cases[] = {
        {"1 2 3", 3, {1, 2, 3}},
        {"1,2,3", 3, {1, 2, 3}},
        {" 1 ,2\n, 3\t4\r\n5\n\n", 5, {1, 2, 3, 4, 5}},
        {"1,2,", 2, {1, 2}},
        {"1,2,\n", 2, {1, 2}},
        {"-1 +2 1e3 -2.5E-1", 4, {-1, 2, 1000, -0.25f}},
        {"nan inf -inf", 3, {NAN, INFINITY, -INFINITY}},
        {"16777216 -16777216 33554432", 3, {16777216, -16777216, 33554432}},
        {"0.100000001", 1, {0.1f}},
        {"0.10000000149011612", 1, {0.1f}},
        {"1180591620717411303424", 1, {0x1p70f}},
        {"7", 1, {7}},
        {"\xef\xbb\xbf 1 2\r\n", 2, {1, 2}}, /* with a byte order mark */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_floats(read_text(cases[i].text), cases[i].want, cases[i].n);
}

Test(input, text_that_is_refused)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "is empty"},
        {" \n\t ", "has no numbers"},
        {"1 2 x3", "number 3 in line 1, \"x3\", is not a number"},
        {"1\n2\n3..4", "number 3 in line 3"},
        {"1,,2", "number 2 in line 1 is missing: \",\" follows \",\""},
        {",1", "number 1 in line 1 is missing: \",\" comes first"},
        {"1e39", "beyond the range of float"},
        {"1e999", "beyond the range of float"},
        {"{\"a\": 1}", "not a number"},
        {"1 \x01\x02", "neither a .npy file nor text"},
        {"\xef\xbb\xbf", "has no numbers"},
        {"\xef\xbb 1", "neither a .npy file nor text"},
        {"1 \xef\xbb\xbf", "is not a number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(read_text(bad[i].text), bad[i].part);
    char endless[5000];
    memset(endless, '1', sizeof endless);
    expect_refused(read_bytes(endless, sizeof endless, ELEMENT_F32),
                   "number 1 in line 1 has more than 400 characters; write it with fewer digits");
    expect_refused(read_bytes("2 nan", 5, ELEMENT_I32),
                   "number 2 is nan, which type int32 does not have; remove it, or take a real");
    expect_refused(read_bytes("-inf", 4, ELEMENT_I32),
                   "number 1, -inf, is beyond the range of int32.");
    expect_refused(read_bytes("\0\0\0", 3, ELEMENT_F32), "neither a .npy file nor text");
}

/* ---- .npy ------------------------------------------------------------------------------------ */

struct npy {
    unsigned char bytes[4096];
    size_t length;
};

/* A .npy file of format `version` with this header and these elements. */
static struct npy npy(int version, const char *header, const void *elements, size_t bytes)
{
    struct npy file = {.length = 0};
    size_t header_length = strlen(header);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (unsigned char)version;
    file.bytes[8] = (unsigned char)header_length;
    file.bytes[9] = (unsigned char)(header_length >> 8);
    file.length = version == 1 ? 10 : 12;
    memcpy(file.bytes + file.length, header, header_length);
    file.length += header_length;
    memcpy(file.bytes + file.length, elements, bytes);
    file.length += bytes;
    return file;
}

#define DICT(descr, order, shape)                                                                  \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"

#define NOT_NUMPYS "its header is not {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"

static int read_npy(const struct npy *file, enum element element)
{
    return read_bytes(file->bytes, file->length, element);
}

Test(input, npy_of_each_type_and_byte_order)
{
    static const float f4[] = {1, -2.5f, 3};
    static const double f8[] = {1, -2.5, 3};
    static const int32_t i4[] = {1, -2, 3};
    static const int64_t i8[] = {1, -2, 16777216};
    static const uint32_t u4[] = {1, 2, 16777216};
    static const uint64_t u8[] = {1, (uint64_t)1 << 63, 3};
    static const unsigned char big_f4[] = {0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0, 0x40, 0x40, 0, 0};
    static const unsigned char big_i8[] = {0, 0, 0, 0, 0, 0, 1, 0};
    const struct {
        struct npy file;
        size_t n;
        float want[3];
    } cases[] = {
        {npy(1, DICT("<f4", "False", "(3,)"), f4, sizeof f4), 3, {1, -2.5f, 3}},
        {npy(2, DICT("<f4", "False", "(3,)"), f4, sizeof f4), 3, {1, -2.5f, 3}},
        {npy(3, DICT("=f4", "True", "(3,)"), f4, sizeof f4), 3, {1, -2.5f, 3}},
        {npy(1, DICT("<f8", "False", "(3,)"), f8, sizeof f8), 3, {1, -2.5f, 3}},
        {npy(1, DICT("<i4", "False", "(3,)"), i4, sizeof i4), 3, {1, -2, 3}},
        {npy(1, DICT("<i8", "False", "(3,)"), i8, sizeof i8), 3, {1, -2, 16777216}},
        {npy(1, DICT("<u4", "False", "(3,)"), u4, sizeof u4), 3, {1, 2, 16777216}},
        {npy(1, DICT("<u8", "False", "(3,)"), u8, sizeof u8), 3, {1, 0x1p63f, 3}},
        {npy(1, DICT(">u8", "False", "(1,)"), big_i8, sizeof big_i8), 1, {256}},
        {npy(1, DICT(">f4", "False", "(3,)"), big_f4, sizeof big_f4), 3, {1, -2.5f, 3}},
        {npy(1, DICT(">i8", "False", "(1,)"), big_i8, sizeof big_i8), 1, {256}},
        {npy(1, " {\n\t'descr' :'<f4',\r\n'fortran_order' : True , 'shape':( 1 , )}", f4, 4),
         1,
         {1}},
        {npy(1, "{'descr':'<f4','fortran_order':False,'shape':(2)}", f4, 8), 2, {1, -2.5f}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_floats(read_npy(&cases[i].file, ELEMENT_F32), cases[i].want, cases[i].n);
}

Test(input, npy_that_is_refused)
{
    static const float f4[] = {1, 2, 3, 4};
    static const double f8[] = {0.1, 1e300};
    const struct {
        struct npy file;
        const char *part;
    } bad[] = {
        {npy(1, DICT("<f4", "False", "(2, 2)"), f4, 16), "shape (2, 2); only one dimension"},
        {npy(1, DICT("<f4", "False", "()"), f4, 4), "only one dimension"},
        {npy(1, DICT("<f4", "False", "(-4,)"), f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "False", "(99999999999999999999999,)"), f4, 16),
         "do not fit into memory"},
        {npy(1, DICT("<f4", "False", "(999999999999999,)"), f4, 16), "do not fit into memory"},
        {npy(1, DICT("<c8", "False", "(2,)"), f4, 16), "type '<c8'"},
        {npy(1, DICT("<f2", "False", "(2,)"), f4, 4), "type '<f2'"},
        {npy(1, DICT("|b1", "False", "(2,)"), f4, 2), "type '|b1'"},
        {npy(1, DICT("<f4", "False", "(0,)"), f4, 0), "has no elements"},
        {npy(1, DICT("<f4", "False", "(5,)"), f4, 16), "promises 5 elements, but the file has 4"},
        {npy(1, DICT("<f4", "False", "(5,)"), f4, 15), "truncated"},
        {npy(1, DICT("<f4", "False", "(1,)"), f4, 3), "promises 1 element, but the file has 0"},
        {npy(1, DICT("<f4", "False", "(1,)"), f4, 8), "goes on after the 1 element that"},
        {npy(1, DICT("<f4", "False", "(3,)"), f4, 16), "goes on after the 3 elements"},
        {npy(1, DICT("<f8", "False", "(1,)"), f8 + 1, 8), "beyond the range of float"},
        {npy(4, DICT("<f4", "False", "(4,)"), f4, 16), "format version"},
        {npy(1, "{'fortran_order': False, 'shape': (4,), }", f4, 16), NOT_NUMPYS},
        {npy(1, "{'descr': '<f4', 'shape': (4,), }", f4, 16), NOT_NUMPYS},
        {npy(1, "{'descr': '<f4', 'fortran_order': False}", f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "Falsehood", "(4,)"), f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "0", "(4,)"), f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "False", "(4.,)"), f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "False", "(4,)") "x", f4, 16), NOT_NUMPYS},
        {npy(1, DICT("<f4", "False", "(4,"), f4, 16), NOT_NUMPYS},
        {npy(1, DICT("", "False", "(4,)"), f4, 16), NOT_NUMPYS},
        {npy(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4,)}", f4, 16),
         NOT_NUMPYS},
        {npy(1, "", f4, 16), NOT_NUMPYS},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(read_npy(&bad[i].file, ELEMENT_F32), bad[i].part);
}

/* 0.1 has no float of its own. Nothing is said of numbers that are floats. */
Test(input, what_a_float_cannot_hold_is_rounded)
{
    static const float want[] = {0.1f, -2.7f, 16777216}, exact[] = {0.5f, 3, 0.1f};
    static const double f8[] = {0.1, -2.7, 16777217};
    const struct npy file = npy(1, DICT("<f8", "False", "(3,)"), f8, sizeof f8);
    int code = read_text("0.1 -2.7 16777217");
    cr_expect(input.rounded);
    expect_floats(code, want, 3);
    code = read_npy(&file, ELEMENT_F32);
    cr_expect(input.rounded);
    expect_floats(code, want, 3);
    code = read_text("0.5 3 0.100000001");
    cr_expect_not(input.rounded);
    expect_floats(code, exact, 3);
    expect_refused(read_bytes("0.5", 3, ELEMENT_I32),
                   "number 1, 0.5, cannot be held exactly in type int32");
}

/* A file that is cut off anywhere gives a sentence, never a crash, and never numbers. */
Test(input, npy_cut_off_anywhere)
{
    static const float f4[] = {1, 2, 3, 4};
    struct npy file = npy(1, DICT("<f4", "False", "(4,)"), f4, sizeof f4);
    for (size_t length = 0; length < file.length; length++)
        cr_expect_eq(read_bytes(file.bytes, length, ELEMENT_F32), EXIT_USAGE,
                     "%zu bytes of %zu were accepted", length, file.length);
}

Test(input, npy_into_other_types)
{
    static const double f8[] = {1, -2, 3e9};
    struct npy file = npy(1, DICT("<f8", "False", "(3,)"), f8, sizeof f8);
    cr_assert_eq(read_npy(&file, ELEMENT_I64), 0);
    cr_expect_eq(((int64_t *)input.data)[2], 3000000000);
    input_free(&input);
    expect_refused(read_npy(&file, ELEMENT_I32), "beyond the range of int32");
    expect_refused(read_npy(&file, ELEMENT_I8), "beyond the range of int8");
    const double nan = NAN;
    file = npy(1, DICT("<f8", "False", "(1,)"), &nan, sizeof nan);
    expect_refused(read_npy(&file, ELEMENT_U64),
                   "number 1 is nan, which type uint64 does not have");
}

/* uint32 and uint64, from .npy and from text: values that they hold, and values that they do
 * not. */
Test(input, unsigned_integers)
{
    static const uint64_t u8[] = {0, UINT32_MAX, UINT64_MAX};
    struct npy file = npy(1, DICT("<u8", "False", "(3,)"), u8, sizeof u8);
    static const char text[] = "0 4294967295 18446744073709551615", minus[] = "1 -1",
                      beyond[] = "18446744073709551616", reals[] = "4294967295.0 1e19";
    cr_assert_eq(read_npy(&file, ELEMENT_U64), 0, "%s", fault.text);
    cr_expect(memcmp(input.data, u8, sizeof u8) == 0);
    input_free(&input);
    cr_assert_eq(read_bytes(text, sizeof text - 1, ELEMENT_U64), 0);
    cr_expect(input.n == 3 && memcmp(input.data, u8, sizeof u8) == 0);
    input_free(&input);
    cr_assert_eq(read_bytes(reals, sizeof reals - 1, ELEMENT_U64), 0);
    cr_expect_eq(((uint64_t *)input.data)[0], UINT32_MAX);
    cr_expect_eq(((uint64_t *)input.data)[1], 10000000000000000000u);
    input_free(&input);

    expect_refused(read_npy(&file, ELEMENT_U32),
                   "number 3, 18446744073709551615, is beyond the range of uint32");
    expect_refused(read_npy(&file, ELEMENT_I64), "beyond the range of int64");
    expect_refused(read_bytes(minus, sizeof minus - 1, ELEMENT_U64),
                   "number 2, -1, is beyond the range of uint64");
    expect_refused(read_bytes(minus, sizeof minus - 1, ELEMENT_U32), "beyond the range of uint32");
    expect_refused(read_bytes(beyond, sizeof beyond - 1, ELEMENT_U64),
                   "beyond the range of uint64");
}

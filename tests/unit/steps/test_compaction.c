/*
 * test_compaction.c — step 13: expressions keep the same elements as in C; compact.h is right for
 * each type, n, fraction and alignment, and reports errors; the figures of the document.
 */
#define _GNU_SOURCE
#include "steps/13-compaction/compact.h"
#include "steps/13-compaction/step13.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(compaction, .init = command_init, .fini = command_fini, .timeout = 120);

/* ---- expressions ----------------------------------------------------------------------------- */

static const double values[] = {-INFINITY, -1e30, -2,  -1, -0.5, -0.0,     0.0,
                                0x1p-149,  0.5,   1.0, 2,  1e30, INFINITY, NAN};

struct meaning {
    const char *expression;
    bool (*keeps)(double x);
};

#define MEANING(name, condition)                                                                   \
    static bool name(double x) { return condition; }
MEANING(above, x > 0.5)
MEANING(least, x >= 0.5)
MEANING(below_zero, x < 0)
MEANING(up_to_zero, x <= 0)
MEANING(zero, x == 0)
MEANING(not_one, x != 1)
MEANING(not_above, !(x > 0.5))
MEANING(nonzero, x != 0)
MEANING(is_nan, isnan(x))
MEANING(no_nan, !isnan(x))
MEANING(between, x > 0 && x <= 1)
MEANING(outside, x<-1 || x> 1)
MEANING(pieces, (x > -2 && x < 0.5 && x != 0) || x == 2)
MEANING(infinite, isinf(x))
MEANING(all, x == x || x != x)
MEANING(none, x<0 && x> 0)
MEANING(first_and, x > 0 || (x < -1 && x != x))

static const struct meaning meanings[] = {{"x > 0.5", above},
                                          {" x>=0.5 ", least},
                                          {"x < 0", below_zero},
                                          {"x <= -0.0", up_to_zero},
                                          {"x == 0", zero},
                                          {"x != 1", not_one},
                                          {"not x > 0.5", not_above},
                                          {"!(x > 0.5)", not_above},
                                          {"x", nonzero},
                                          {"!!x", nonzero},
                                          {"isnan(x)", is_nan},
                                          {"not isnan ( x )", no_nan},
                                          {"0 < x <= 1", between},
                                          {"1 >= x and x > 0", between},
                                          {"x < -1 || 1 < x", outside},
                                          {"(x > -2 and x < 0.5 && x) or x == 2", pieces},
                                          {"x == inf or x == -inf", infinite},
                                          {"isnan(x) or x < 1 or x >= 1", all},
                                          {"x < 0 and x > 0", none},
                                          {"x == nan", none},
                                          {"x != nan", all},
                                          {"x > 0 or x < -1 and isnan(x)", first_and}};

Test(compaction, expressions_mean_what_they_mean_in_c)
{
    struct predicate p;
    struct fault fault;
    for (size_t m = 0; m < LENGTH(meanings); m++) {
        const struct meaning *meaning = &meanings[m];
        cr_assert_eq(predicate_parse(&p, meaning->expression, ELEMENT_F64, &fault), 0, "%s",
                     fault.text);
        for (size_t i = 0; i < LENGTH(values); i++)
            cr_expect_eq(predicate_keeps(&p, key_of_f64(values[i])), meaning->keeps(values[i]),
                         "%s of %g", meaning->expression, values[i]);
        cr_assert_eq(predicate_parse(&p, meaning->expression, ELEMENT_F32, &fault), 0);
        for (size_t i = 0; i < LENGTH(values); i++)
            cr_expect_eq(predicate_keeps(&p, key_of_f32((float)values[i])),
                         meaning->keeps((float)values[i]), "%s of %gf", meaning->expression,
                         values[i]);
    }
}

/* A NaN with the sign bit lies at the other end of the keys. */
Test(compaction, nans_of_either_sign)
{
    struct predicate p;
    struct fault fault;
    cr_assert_eq(predicate_parse(&p, "isnan(x)", ELEMENT_F32, &fault), 0);
    cr_expect(predicate_keeps(&p, key_of_f32(-NAN)) && predicate_keeps(&p, key_of_f32(NAN)));
    cr_expect(!predicate_keeps(&p, key_of_f32(-INFINITY)));
    cr_assert_eq(predicate_parse(&p, "x < 0", ELEMENT_F32, &fault), 0);
    cr_expect(!predicate_keeps(&p, key_of_f32(-NAN)));
}

/* Limits that no element equals, and the ends of integer types. */
Test(compaction, expressions_of_integers)
{
    static const struct {
        const char *expression;
        enum element element;
        int64_t value;
        bool kept;
    } cases[] = {{"x > 0.5", ELEMENT_I32, 1, true},
                 {"x > 0.5", ELEMENT_I32, 0, false},
                 {"x > 1e10", ELEMENT_I32, INT32_MAX, false},
                 {"x < 1e10", ELEMENT_I32, INT32_MAX, true},
                 {"x >= -2147483648", ELEMENT_I32, INT32_MIN, true},
                 {"x < -2147483648", ELEMENT_I32, INT32_MIN, false},
                 {"x <= 9223372036854775807", ELEMENT_I64, INT64_MAX, true},
                 {"x < 9223372036854775807", ELEMENT_I64, INT64_MAX, false},
                 {"x < 9223372036854775807", ELEMENT_I64, INT64_MAX - 1, true},
                 {"x > -9223372036854775808", ELEMENT_I64, INT64_MIN, false},
                 {"x >= -1e300", ELEMENT_I64, INT64_MIN, true},
                 {"x == 9007199254740993", ELEMENT_I64, 9007199254740992, false},
                 {"isnan(x)", ELEMENT_I64, INT64_MAX, false},
                 {"isnan(x)", ELEMENT_I64, INT64_MIN, false},
                 {"not isnan(x)", ELEMENT_I32, INT32_MIN, true},
                 {"x == -inf", ELEMENT_I32, INT32_MIN, false}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct predicate p;
        struct fault fault;
        bool wide = cases[i].element == ELEMENT_I64;
        uint64_t key = wide ? key_of_i64(cases[i].value) : key_of_i32((int32_t)cases[i].value);
        cr_assert_eq(predicate_parse(&p, cases[i].expression, cases[i].element, &fault), 0);
        cr_expect_eq(predicate_keeps(&p, key), cases[i].kept, "%s of %lld", cases[i].expression,
                     (long long)cases[i].value);
    }
}

Test(compaction, expressions_that_do_not_parse)
{
    static const struct {
        const char *expression;
        const char *says;
    } cases[] = {{"", "is expected at character 1."},
                 {"x >", "a number is expected at character 4."},
                 {"x > > 3", "a number is expected at character 5."},
                 {"x > 3 x", "and, or, or the end is expected at character 7."},
                 {"(x > 3", "\")\" is expected at character 7."},
                 {"x = 3", "and, or, or the end is expected at character 3."},
                 {"3", "a comparison is expected at character 2."},
                 {"3 < y", "x is expected at character 5."},
                 {"isnan x", "(x) is expected at character 7."},
                 {"y > 3", "x, a number, isnan(x), not or \"(\" is expected at character 1."},
                 {"x > 3 and", "is expected at character 10."},
                 {"xx", "is expected at character 1."},
                 {"x > 3 andx", "is expected at character 7."}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct predicate p;
        struct fault fault;
        cr_assert_eq(predicate_parse(&p, cases[i].expression, ELEMENT_F32, &fault), EXIT_USAGE,
                     "\"%s\"", cases[i].expression);
        cr_expect(strstr(fault.text, cases[i].says), "%s", fault.text);
    }
}

Test(compaction, expressions_that_are_too_large)
{
    char many[2000] = "x == 0", deep[400] = "";
    struct predicate p;
    struct fault fault;
    for (int i = 1; i < COMPACT_INTERVALS_MOST; i++)
        sprintf(many + strlen(many), " or x == %d", 2 * i);
    cr_expect_eq(predicate_parse(&p, many, ELEMENT_I32, &fault), 0);
    cr_expect_eq(p.count, COMPACT_INTERVALS_MOST);
    strcat(many, " or x == 99");
    cr_expect_eq(predicate_parse(&p, many, ELEMENT_I32, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "more than 16 separate intervals; keep fewer at a time."));
    for (int i = 0; i < 100; i++) strcat(deep, "!(");
    cr_expect_eq(predicate_parse(&p, deep, ELEMENT_I32, &fault), EXIT_USAGE);
    cr_expect_str_eq(fault.text, "--keep: at character 65 more than 64 brackets and nots are "
                                 "within each other; leave out those that are not needed.");
}

/* ---- compact.h ------------------------------------------------------------------------------- */

static void *workspace_for(size_t n, size_t *bytes)
{
    ok(compact_i32(NULL, bytes, NULL, NULL, NULL, n, NULL, NULL));
    void *workspace = device_memory(*bytes);
    ok(compact_workspace_init(workspace, *bytes, NULL));
    return workspace;
}

/* Keeps the numbers of `host` from `low` to below `limit`; `in` and `out` are displaced by this
 * many elements. Nothing else is written. */
static void expect_kept(const int32_t *host, size_t n, int32_t low, int32_t limit, size_t in,
                        size_t out, void *workspace, size_t bytes)
{
    struct predicate p = predicate_between(key_of_i32(low), key_of_i32(limit - 1));
    size_t size = sizeof *host, space = (n + 1) * size;
    struct guarded from = guarded(host, n * size, in * size), to = guarded(NULL, space, out * size);
    uint64_t kept, count = 0, *counter = device_memory(sizeof *counter);
    int32_t *want = malloc(space);
    cr_assert(want);
    memset(want, 0xA5, space); /* as the guards are */
    for (size_t i = 0; i < n; i++)
        if (host[i] >= low && host[i] < limit) want[count++] = host[i];
    ok(compact_i32(workspace, &bytes, (int32_t *)to.data, counter, (int32_t *)from.data, n, &p,
                   NULL));
    ok(cudaMemcpy(&kept, counter, sizeof kept, cudaMemcpyDeviceToHost));
    cr_assert_eq(kept, count, "n = %zu, limit %d: %llu", n, limit, (unsigned long long)kept);
    release(&to, want, "the kept elements");
    release(&from, host, "the input");
    ok(cudaFree(counter));
    free(want);
}

Test(compaction, any_n_any_fraction_any_alignment_with_one_workspace)
{
    enum { LARGEST = 10000 };
    static const size_t sizes[] = {0,    1,    2,    31,   32,   33,   127,  1023, 1024,
                                   1025, 2047, 2048, 2049, 4095, 4096, 4097, 9999, LARGEST};
    static const int32_t limits[] = {0, 1, 100, 500, 999, 1000};
    static int32_t host[LARGEST];
    size_t bytes;
    void *workspace = workspace_for(LARGEST, &bytes);
    for (size_t i = 0; i < LARGEST; i++) host[i] = (int32_t)(random_bits() % 1000);
    for (size_t s = 0; s < LENGTH(sizes); s++)
        for (size_t l = 0; l < LENGTH(limits); l++)
            expect_kept(host, sizes[s], 0, limits[l], (s + l) % 4, l % 5, workspace, bytes);
    ok(cudaFree(workspace));
}

/* Keeps the elements of n that are below 0, where at first none is, then every one, then one half:
 * the load warp of select_pipeline draws its tickets ahead, later, and ahead. */
static void expect_parts(size_t n, size_t in, size_t out)
{
    size_t bytes;
    void *workspace = workspace_for(n, &bytes);
    int32_t *host = malloc(n * sizeof *host);
    cr_assert(host);
    for (size_t i = 0; i < n; i++) {
        host[i] = (int32_t)(random_bits() >> 33);
        if (i >= n / 3 && (i < n / 3 * 2 || random_bits() % 2)) host[i] = -host[i] - 1;
    }
    expect_kept(host, n, INT32_MIN, 0, in, out, workspace, bytes);
    ok(cudaFree(workspace));
    free(host);
}

/* select_list of full tiles, of a tile of one element, and not aligned; select_pipeline of last
 * tiles that end within 16 bytes, and within a segment. */
Test(compaction, medium_and_large_n_of_which_parts_are_kept_slow)
{
    expect_parts((size_t)129 * 8192, 0, 1);
    expect_parts((size_t)129 * 8192 + 1, 3, 0);
    expect_parts((size_t)512 * 8192, 0, 31);
    expect_parts((size_t)512 * 8192 + 1, 0, 3);
    expect_parts((size_t)600 * 8192 - 511, 0, 0);
}

/* ---- ./step13 -------------------------------------------------------------------------------- */

/* Each kernel of variant fast: all tiles of select_wave, select_list, select_pipeline, and
 * select_direct for arrays that are not aligned and on an older GPU. Large n take half a minute, so
 * all but the first kernel of each kind run only in make test-nightly. */
Test(compaction, each_kernel_is_right_under_the_checkers_slow)
{
    static const struct {
        const char *options, *launch;
        const char *tool;
    } cases[] = {
        {"--n 2047", "2 blocks of 128 threads", "--tool all"},
        {"--n 2049", "2 blocks of 256 threads", "--tool all"},
        {"--n 131073", "33 blocks of 512 threads", "--tool all"},
        {"--n 524289", "65 blocks of 512 threads", ""},
        {"--n 1048577 --type i32", "129 blocks of 256 threads", ""},
        {"--n 524289 --type f64", "129 blocks of 256 threads", NULL},
        {"--n 1048577 --offset 1", "129 blocks of 256 threads", NULL},
        {"--n 4194305 --keep 'x < -400'", "132 blocks of 864 threads", NULL},
        {"--n 2097155 --type f64 --keep 'x > 400'", "132 blocks of 864 threads", ""},
        {"--n 4194305 --offset 1 --keep 'x > 400 or x == 1'", "", ""},
        {"--n 1000 --type i32 --variant document", "4 blocks of 256 threads", "--tool all"},
        {"--n 1000 --type i64 --variant atomic --keep 'not 3 < x < 100'", "", "--tool all"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        if (!cases[i].tool && !getenv("TEST_NIGHTLY")) continue;
        const char *tool = cases[i].tool ? cases[i].tool : "--tool all";
        expect_status(0, "$emu %s --error-exitcode 9 --schedule %zu ./step13 --reps 0 %s 2>&1",
                      tool, i, cases[i].options);
        expect("right: every element, exactly");
        expect(cases[i].launch);
        if (*tool) expect("SUMMARY: 0 ");
    }
    if (!getenv("TEST_NIGHTLY")) return;
    expect_status(0, "$emu --gpu a100 ./step13 --reps 0 --n 4194305 --keep 'x > 400' 2>&1");
    expect("right: every element, exactly");
}

Test(compaction, traffic_by_variant)
{
    expect_status(0, "./step13 --n 1000 --reps 1 --keep 'isnan(x)'");
    expect("0 elements kept");
    expect("3.9 KiB read and written, 1.00 times the least possible, 3.9 KiB");
    expect_status(0, "./step13 --n 1000 --reps 1 --variant document --keep 'not isnan(x)'");
    expect("1000 elements kept");
    expect(" KiB read and written, 4.00 times the least possible, 7.8 KiB");
}

Test(compaction, example_slow)
{
    expect_status(0, "$emu --log-file /dev/null build/example13");
    cr_expect_str_eq(output, "42\n43\n44\n45\n");
    expect_status(1, "EMU_MEMORY=1K $emu --log-file /dev/null build/example13 2>&1");
    expect("cudaMalloc((void **)&in, sizeof host): out of memory\n");
}

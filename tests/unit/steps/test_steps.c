/*
 * test_steps.c — every step and variant gives the right result, at sizes where something might go
 * wrong: around powers of two, warps, blocks and limits; in place; misaligned. Step 12's kernels
 * for more elements are tested in test_pipeline.c.
 */
#define _GNU_SOURCE
#include "tests/support/cudart_check.h"
#include "tests/support/scan_once.h"
#include "common/harness/run/runs.h"
#include "common/step/element.h"
#include "steps/00-copy/patterns.h"
#include "steps/01-sequential/scan.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool is_power_of_two(size_t n) { return (n & (n - 1)) == 0; }

/* Whether the step takes n elements, as its descriptor says. */
static bool takes(const struct step *step, size_t n)
{
    return (step->max_n == 0 || n <= step->max_n) && (!step->power_of_two || is_power_of_two(n));
}

/* Elements of 8 and 16 bits have no room for their sums. */
static bool may_be_in_place(const struct step *step, int variant)
{
    enum element element = step_element(step, variant);
    return element_size(element) == element_size(element_of_sum(element));
}

/* Scans n random integers with each variant of a step, in place and not, aligned and not. */
static void expect_all_right(const struct step *step, size_t n)
{
    for (int variant = 0; variant < variant_count(step); variant++) {
        const void *in = random_input(step, variant, n, false);
        for (int way = 0; way < 4; way++)
            if (way % 2 == 0 || may_be_in_place(step, variant))
                expect_right(&(struct scan){step, variant, n, (size_t)way / 2, way % 2 == 1}, in);
    }
}

/* Where scans break: at the ends of warps, blocks and tiles, one element more and one less. */
static const size_t sizes[] = {1,    2,    3,    4,    8,    31,   32,   33,  64,   127,
                               128,  129,  255,  256,  257,  511,  512,  513, 1000, 1023,
                               1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097};

static void expect_right_at_sizes(const struct step *step, size_t from, size_t to)
{
    for (size_t i = 0; i < LENGTH(sizes); i++)
        if (from <= sizes[i] && sizes[i] <= to && takes(step, sizes[i]))
            expect_all_right(step, sizes[i]);
}

/* Real numbers are compared within the bound that follows from the step's depth. */
static void expect_right_of_reals(const struct step *step)
{
    for (size_t n = 1; n <= 4096; n *= 2)
        for (int variant = 0; variant < variant_count(step) && takes(step, n); variant++)
            expect_right(&(struct scan){step, variant, n, 0, false},
                         random_input(step, variant, n, true));
}

static void expect_example(const struct step *);
static void every_kind(const struct step *);

/* A suite for each step: `make test-step3` runs step_3, and a fault in one step hides no other. */
#define TESTS_OF(k)                                                                                \
    Test(step_##k, sizes_of_a_block) { expect_right_at_sizes(scan_step(k), 1, 1024); }             \
    Test(step_##k, real_numbers) { expect_right_of_reals(scan_step(k)); }                          \
    Test(step_##k, kinds_of_numbers_slow) { every_kind(scan_step(k)); }                            \
    Test(step_##k, example_of_the_documents) { expect_example(scan_step(k)); }
#define TESTS_OF_BLOCKS(k)                                                                         \
    TESTS_OF(k)                                                                                    \
    Test(step_##k, sizes_of_blocks) { expect_right_at_sizes(scan_step(k), 1025, 4097); }
TESTS_OF_BLOCKS(1)
TESTS_OF(2)
TESTS_OF_BLOCKS(3)
TESTS_OF_BLOCKS(4)
TESTS_OF_BLOCKS(5)
TESTS_OF_BLOCKS(6)
TESTS_OF_BLOCKS(7)
TESTS_OF_BLOCKS(8)
TESTS_OF_BLOCKS(9)
TESTS_OF_BLOCKS(10)
TESTS_OF_BLOCKS(11)
TESTS_OF_BLOCKS(12)

/* Beyond its limits a step returns an error and launches nothing. */
Test(steps, refuse_what_is_beyond_their_limits)
{
    for (size_t s = 0; s < LENGTH(scan_steps); s++) {
        const struct step *step = scan_steps[s];
        for (int variant = 0; variant < variant_count(step); variant++) {
            size_t beyond[] = {step->max_n + 1, 2 * step->max_n, 3, 255, step->max_n - 1};
            if (step->max_n == 0) continue;
            for (size_t i = 0; i < LENGTH(beyond); i++) {
                static float out[1 << 13];
                size_t n = beyond[i];
                if (takes(step, n)) continue;
                const float *in = random_floats(n, false);
                struct scan scan = {step, variant, n, 0, false};
                struct counters counters;
                cr_assert(counters_begin());
                cr_assert(scan_once(&scan, in, out) == cudaErrorInvalidValue,
                          "step %d took %zu elements", step->number, n);
                counters_end(&counters);
                cr_assert(counters.launches == 0 && cudaGetLastError() == cudaSuccess,
                          "step %d has launched for %zu elements", step->number, n);
                counters_free(&counters);
            }
        }
    }
}

/* 3 1 7 0 4 1 6 3: the documents' example. Harris prints 14 where the sum is 15. */
static void expect_example(const struct step *step)
{
    static const float in[] = {3, 1, 7, 0, 4, 1, 6, 3};
    static const float exclusive[] = {0, 3, 4, 11, 11, 15, 16, 22};
    static const float inclusive[] = {3, 4, 11, 11, 15, 16, 22, 25};
    float out[8];

    for (int variant = 0; variant < variant_count(step); variant++) {
        const float *want = exclusive;
        if (step == &step01 && variant > INCLUSIVE) continue; /* sums of f, below */
        if (step_element(step, variant) != ELEMENT_F32) continue;
        if (step == &step01 && variant == INCLUSIVE) want = inclusive;
        struct scan scan = {step, variant, LENGTH(in), 0, false};
        cr_assert(scan_once(&scan, in, out) == cudaSuccess);
        cr_assert(memcmp(out, want, sizeof out) == 0, "%s", variant_name(step, variant));
    }
}

/* The worked example of Figure 1: how many positive elements come before each. */
Test(steps, example_of_f)
{
    static const float in[] = {5, -1, 0, 2, 7, -3, 1, 4};
    static const float want[] = {0, 1, 1, 1, 2, 3, 3, 4};
    float out[8];

    for (int variant = LOOP; variant <= TWO_PASS; variant++) {
        struct scan scan = {&step01, variant, LENGTH(in), 0, false};
        cr_assert(scan_once(&scan, in, out) == cudaSuccess);
        cr_assert(memcmp(out, want, sizeof out) == 0, "%s", variant_name(&step01, variant));
    }
}

/* No elements: the call succeeds and accesses no memory, so NULL is allowed. */
Test(steps, no_elements)
{
    for (size_t s = 0; s < LENGTH(scan_steps); s++)
        for (int variant = 0; variant < variant_count(scan_steps[s]); variant++)
            cr_assert(scan_steps[s]->scan(NULL, NULL, 0, variant, NULL, NULL) == cudaSuccess);
    cr_assert(step00.scan(NULL, NULL, 0, SCALAR, NULL, NULL) == cudaSuccess);
}

/* ---- from step 5 on: any size ---------------------------------------------------------------- */

/* Every seventh size, and those near whole warps' vectors; with TEST_NIGHTLY=1 every size. */
static bool is_tried(size_t n)
{
    const size_t step = 7, vectors = 128, near = 2;
    return n % step == 0 || (n + near) % vectors <= 2 * near || getenv("TEST_NIGHTLY") != NULL;
}

/* From one element to a little more than two tiles, which needs two levels. */
static void expect_sizes(const struct step *step, size_t tile)
{
    for (size_t n = 1; n <= 2 * tile + 1; n++) {
        if (!is_tried(n)) continue;
        const float *in = random_floats(n, false);
        for (int variant = 0; variant < variant_count(step); variant++) {
            expect_right(&(struct scan){step, variant, n, 0, false}, in);
            expect_right(&(struct scan){step, variant, n, n % 4, n % 2 == 0}, in);
        }
    }
}

Test(step_5, many_sizes) { expect_sizes(&step05, 512); }
Test(step_6, many_sizes) { expect_sizes(&step06, 2048); }
Test(step_7, many_sizes) { expect_sizes(&step07, 2048); }
Test(step_8, many_sizes) { expect_sizes(&step08, 256); }
Test(step_9, many_sizes_slow) { expect_sizes(&step09, 2048); }
Test(step_10, many_sizes_slow) { expect_sizes(&step10, 2048); }
Test(step_11, many_sizes_slow) { expect_sizes(&step11, 2048); }

/* Step 9's variants add in the same order; step 7's tree in another. */
Test(steps, shuffles_add_in_one_order)
{
    enum { MANY = 5000 };
    static float plain[MANY], predicate[MANY], tree[MANY];
    const float *in = random_floats(MANY, true);
    cr_assert(scan_once(&(struct scan){&step09, 0, MANY, 0, false}, in, plain) == cudaSuccess);
    cr_assert(scan_once(&(struct scan){&step09, 1, MANY, 0, false}, in, predicate) == cudaSuccess);
    cr_assert(scan_once(&(struct scan){&step07, 0, MANY, 0, false}, in, tree) == cudaSuccess);
    cr_expect(memcmp(plain, predicate, sizeof plain) == 0);
    cr_expect(memcmp(plain, tree, sizeof plain) != 0);
}

/* Sizes with two and three levels of sums, odd ones among them. */
Test(steps, large_sizes_slow)
{
    static const size_t large[] = {100003, 512 * 512, 512 * 512 + 1, 1000003};
    static const struct {
        const struct step *step;
        size_t offsets;                /* the i-th size is displaced by i modulo this */
        enum { NEVER, ODD, EVEN } way; /* of sizes, that are in place */
    } steps[] = {{&step05, 2, ODD}, {&step06, 1, EVEN}, {&step07, 4, NEVER}, {&step08, 2, EVEN},
                 {&step09, 4, EVEN}, {&step10, 4, ODD}, {&step11, 4, ODD},   {&step12, 4, NEVER}};
    for (size_t i = 0; i < LENGTH(large); i++)
        for (size_t s = 0; s < LENGTH(steps); s++)
            for (int variant = 0; variant < variant_count(steps[s].step); variant++) {
                struct scan scan = {steps[s].step, variant, large[i], i % steps[s].offsets,
                                    steps[s].way == (i % 2 ? ODD : EVEN)};
                expect_right(&scan, random_input(scan.step, variant, large[i], false));
            }
    size_t three_levels = (size_t)2048 * 2048 + 2049; /* of steps 6, 7 and 9 */
    const float *in = random_floats(three_levels, false);
    expect_right(&(struct scan){&step06, 0, three_levels, 1, false}, in);
    expect_right(&(struct scan){&step07, 0, three_levels, 0, true}, in);
    expect_right(&(struct scan){&step09, 0, three_levels, 0, false}, in);
}

/* Step 10's order of additions depends only on n and the number of blocks: real numbers give the
 * same bits in each run, for any order of blocks. */
Test(steps, cooperative_is_the_same_each_time)
{
    enum { N = 300007, RUNS = 5 };
    static float first[N], again[N];
    cr_redirect_stderr(); /* the emulator says how to repeat it */
    setenv("EMU_SCHEDULE", "7", 1); /* each launch of a process has its own order */
    const float *in = random_floats(N, true);
    for (int run = 0; run < RUNS; run++) {
        struct scan scan = {&step10, 0, N, 0, false};
        cr_assert(scan_once(&scan, in, run ? again : first) == cudaSuccess);
        cr_assert(run == 0 || memcmp(first, again, sizeof first) == 0);
    }
}

/* From tile to tile, once for the sums and once for the scan; the blocks' sums; and in a tile. */
Test(step_10, depth_is_that_of_its_blocks)
{
    cr_expect_eq(step10.depth(2 * 2048, 0), 2 * 2 + 2 / 256. + 27);
}

/* ---- step 0 ---------------------------------------------------------------------------------- */

Test(steps, patterns)
{
    static float out[5000];
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        size_t n = sizes[i];
        const float *in = random_floats(n, false);
        for (int pattern = ALL; pattern < PATTERNS; pattern++) {
            for (size_t offset = 0; offset < 4; offset++) {
                struct scan scan = {&step00, pattern, n, offset, false};
                cr_assert(scan_once(&scan, in, out) == cudaSuccess);
                for (size_t j = 0; j < n; j++)
                    cr_assert(out[j] == in[pattern_source((enum pattern)pattern, j, n)],
                              "%s, n = %zu, offset %zu: out[%zu]", variant_name(&step00, pattern),
                              n, offset, j);
            }
        }
    }
}

/* ---- numbers of every kind, as a file may hold them ------------------------------------------ */

#define SEEDS 2

static double random_sign(void) { return random_bits() >> 63 ? -1 : 1; }
static double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

enum kind {
    REALS,     /* of one magnitude */
    GEOMETRIC, /* of magnitudes from 2^-60 to 2^60 */
    POSITIVE,  /* without a sign, so that errors add up */
    BIG_PAIRS, /* large numbers that cancel, and small ones between them */
    DENORMALS, /* below the smallest normal number */
    ONE_HUGE,  /* the others are too small to change the sum */
    ZEROS,     /* 0, -0, and pairs that cancel */
    ALTERNATING, /* every sum of neighbours is exact, other sums are not */
    WITH_NAN,
    WITH_INFINITIES,
    KINDS
};

static double number(enum kind kind, size_t i, size_t n)
{
    static double pair;
    switch (kind) {
    case GEOMETRIC:
        return random_sign() * ldexp(1 + random_unit(), (int)(random_bits() % 121) - 60);
    case POSITIVE: return random_unit();
    case BIG_PAIRS:
        if (i % 7 == 0) return pair = ldexp(1 + random_unit(), (int)(random_bits() % 60));
        return i % 7 == 3 ? -pair : random_unit();
    case DENORMALS: return random_sign() * (double)(random_bits() >> 42) * 0x1p-149;
    case ONE_HUGE: return i == n / 3 ? 0x1p40 : 1 + random_unit();
    case ZEROS:
        if (i % 3 == 0) return pair = random_bits() % 3 ? random_unit() : -0.0;
        return i % 3 == 1 ? -pair : random_sign() * 0.0;
    case ALTERNATING: return i % 512 ? 0 : (i / 512 % 2 ? -1.0 : 1) * (0x1p22 - (double)(i / 512));
    case WITH_NAN: return i == n / 2 ? NAN : random_sign() * (1 + random_unit());
    case WITH_INFINITIES:
        if (i == n / 2) return INFINITY;
        return i == n - n / 4 ? -INFINITY : random_sign() * (1 + random_unit());
    default: return random_sign() * (1 + random_unit()) / 2;
    }
}

static void see_kind(const struct step *step, int variant, size_t n, enum kind kind)
{
    enum element element = step_element(step, variant);
    void *data = malloc(n * sizeof(double));
    cr_assert(data != NULL);
    for (size_t i = 0; i < n; i++) element_store_real(element, data, i, number(kind, i, n));
    expect_right_from_file(&(struct scan){step, variant, n, 0, false}, data);
    free(data);
}

static void every_kind(const struct step *step)
{
    static const size_t sizes[] = {1, 2, 31, 64, 512, 1000, 2048, 10007, 70001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int variant = 0; variant < variant_count(step); variant++) {
            size_t n = sizes[i];
            if (!element_is_real(step_element(step, variant)) || (step->max_n && n > step->max_n) ||
                (step->power_of_two && n & (n - 1)))
                continue;
            for (int seed = 0; seed < SEEDS; seed++)
                for (enum kind kind = 0; kind < KINDS; kind++) see_kind(step, variant, n, kind);
        }
}

/*
 * test_verify.c — what the verifier accepts and what it rejects, without any kernel; and its guess
 * at a cause: each is named where it applies, and not where another error looks similar.
 */
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 3000 /* more than one chunk of the verifier */

static struct verdict verify(const float *in, const float *out, size_t n, bool inclusive,
                             double depth, size_t tile)
{
    struct problem problem = {.element = ELEMENT_F32, .in = in, .n = n, .inclusive = inclusive};
    return verify_all(&problem, out, depth, tile);
}

/* Integers whose sums are exact, and their scan. */
static void integers(float *in, float *out, size_t n, bool inclusive)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        in[i] = (float)((i * 7919) % 199) - 99;
        out[i] = inclusive ? sum + in[i] : sum;
        sum += in[i];
    }
}

static float in[N], out[N];

Test(verify, right_results_are_right)
{
    static const size_t sizes[] = {1, 2, 3, 2046, 2047, 2048, 2049, N};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int inclusive = 0; inclusive < 2; inclusive++) {
            integers(in, out, sizes[i], inclusive);
            struct verdict v = verify(in, out, sizes[i], inclusive, 10, 0);
            cr_expect(v.right, "n = %zu", sizes[i]);
            cr_expect(v.exact);
            cr_expect_eq(v.checked, sizes[i]);
            cr_expect_str_empty(v.cause);
        }
}

Test(verify, the_documents_example)
{
    const float harris_in[] = {3, 1, 7, 0, 4, 1, 6, 3};
    const float right[] = {0, 3, 4, 11, 11, 15, 16, 22};
    const float misprint[] = {0, 3, 4, 11, 11, 14, 16, 22}; /* Harris' 14 */
    cr_expect(verify(harris_in, right, 8, false, 6, 0).right);
    struct verdict v = verify(harris_in, misprint, 8, false, 6, 0);
    cr_expect_not(v.right);
    cr_expect_eq(v.wrong, 1);
    cr_expect_eq(v.first[0].index, 5);
    cr_expect_str_eq(v.first[0].got, "14");
    cr_expect_str_eq(v.first[0].want, "15");
}

/* Each element is made wrong by the smallest difference of a float. */
Test(verify, any_single_element_off_by_one_ulp_is_wrong)
{
    integers(in, out, N, false);
    for (size_t i = 0; i < N; i += i < 40 || i > N - 40 ? 1 : 37) {
        float right = out[i];
        out[i] = nextafterf(right, INFINITY);
        struct verdict v = verify(in, out, N, false, 10, 0);
        cr_expect_not(v.right, "element %zu", i);
        cr_expect_eq(v.wrong, 1);
        cr_expect_eq(v.first[0].index, i);
        out[i] = right;
    }
}

Test(verify, nan_and_infinity_are_wrong_unless_the_reference_has_them)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 3; k++) {
        integers(in, out, N, false);
        out[5] = odd[k];
        cr_expect_not(verify(in, out, N, false, 10, 0).right);
    }
    const float with[] = {1, INFINITY, 2, -INFINITY, 3, 4};
    const float want[] = {0, 1, INFINITY, INFINITY, NAN, NAN};
    float got[6];
    cr_expect(verify(with, want, 6, false, 5, 0).right);
    for (size_t i = 0; i < 6; i++) {
        memcpy(got, want, sizeof got);
        got[i] = 7;
        cr_expect_not(verify(with, got, 6, false, 5, 0).right, "element %zu", i);
    }
    memcpy(got, want, sizeof got);
    got[2] = -INFINITY;
    cr_expect_not(verify(with, got, 6, false, 5, 0).right);
}

/* The poison is a NaN. Even where a NaN is expected, the poison means that nothing was written. */
Test(verify, poison_is_wrong_where_nan_is_expected)
{
    const float with[] = {1, NAN, 2, 3};
    float got[] = {0, 1, NAN, NAN};
    cr_expect(verify(with, got, 4, false, 5, 0).right);
    memset(&got[3], VERIFY_POISON, sizeof *got);
    struct verdict v = verify(with, got, 4, false, 5, 0);
    cr_expect_eq(v.wrong, 1);
    cr_expect_str_eq(v.first[0].got, "never written");
    /* But if the input contains this NaN, the additions may pass it on to the output. */
    float poisoned[] = {1, NAN, 2, 3};
    memset(&poisoned[1], VERIFY_POISON, sizeof *poisoned);
    cr_expect(verify(poisoned, got, 4, false, 5, 0).right);
}

/* Real numbers, of which only the depth d is known: the bound is d u / (1 - d u) times the sum of
 * |x|, and no more. */
Test(verify, the_bound_of_a_depth)
{
    const double depth = 200, u = 0x1p-24;
    double sum = 0, magnitude = 0;
    for (size_t i = 0; i < N; i++) {
        in[i] = (float)sin((double)i) / 3;
        double additions = i < 1 ? 0 : (double)i - 1 < depth ? (double)i - 1 : depth;
        double bound = additions * u * magnitude;
        if (i < 100) bound = 0; /* less than the distance between two floats */
        out[i] = (float)(sum + (i % 2 ? -0.9 : 0.9) * bound);
        sum += in[i];
        magnitude += fabs((double)in[i]);
    }
    struct verdict v = verify(in, out, N, false, depth, 0);
    cr_expect(v.right, "%zu wrong, first %zu", v.wrong, v.first[0].index);
    cr_expect_not(v.exact);
    cr_expect(v.worst > 0.85 && v.worst <= 1, "%g", v.worst);
    out[N - 1] += (float)(2.2 * depth * u * magnitude);
    v = verify(in, out, N, false, depth, 0);
    cr_expect_not(v.right);
    cr_expect_eq(v.wrong, 1);
    cr_expect_eq(v.first[0].index, N - 1);
}

Test(verify, when_sums_are_exact)
{
    float ints[] = {1, 2, 3}, half[] = {0.5f, 0.25f}, third[] = {1 / 3.0f, 1},
          tiny[] = {0x1p-149f, -0x1p-140f}, large[] = {0x1p23f, 0x1p23f, 1},
          edge[] = {0x1p23f, 0x1p23f}, cancel[] = {0x1p24f, -0x1p24f, -1},
          pairs[] = {0x1p23f, -0x1p23f, 0x1p23f, 1 - 0x1p23f};
    const struct {
        const float *in;
        size_t n;
        bool exact, in_any_order;
    } cases[] = {{ints, 3, true, true},    {half, 2, true, true},   {third, 2, false, false},
                 {tiny, 2, true, true},    {large, 3, false, false}, {edge, 2, true, true},
                 {cancel, 3, false, false}, {pairs, 4, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem p = {.element = ELEMENT_F32, .in = cases[i].in, .n = cases[i].n};
        cr_expect_eq(facts_of(&p).exact, cases[i].exact, "case %zu", i);
        cr_expect_eq(facts_of(&p).exact_in_any_order, cases[i].in_any_order, "case %zu", i);
    }
}

/* All elements are multiples of the quantum, a power of two: 1 at most. */
Test(verify, facts_of_elements)
{
    const float x[] = {-0.0f, 0, -0.75f, 12, 0x1p-126f, NAN, -INFINITY, 0x1.8p-149f};
    const struct {
        size_t n, minus_zeros;
        double quantum, least;
        bool finite;
    } cases[] = {{1, 1, 1, INFINITY, true},        {2, 1, 1, INFINITY, true},
                 {3, 1, 0.25, 0.75, true},         {4, 1, 0.25, 0.75, true},
                 {5, 1, 0x1p-126, 0x1p-126, true}, {7, 1, 0x1p-126, 0x1p-126, false},
                 {8, 1, 0x1p-148, 0x1p-148, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem p = {.element = ELEMENT_F32, .in = x, .n = cases[i].n};
        struct facts facts = facts_of(&p);
        cr_expect_eq(facts.quantum, cases[i].quantum, "case %zu: %a", i, facts.quantum);
        cr_expect_eq(facts.least, cases[i].least, "case %zu: %a", i, facts.least);
        cr_expect_eq(facts.minus_zeros, cases[i].minus_zeros, "case %zu", i);
        cr_expect_eq(facts.finite, cases[i].finite, "case %zu", i);
    }
}

/* No result is right if the order of additions decides whether a sum overflows. */
Test(verify, sums_beyond_the_range_are_refused)
{
    const float huge[] = {3e38f, 3e38f, -3e38f}, fine[] = {3e38f, -1e37f};
    struct fault fault = {0};
    struct problem p = {.element = ELEMENT_F32, .in = huge, .n = 3};
    struct facts facts = facts_of(&p);
    cr_expect_eq(facts_check(&facts, ELEMENT_F32, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "overflows"));
    p = (struct problem){.element = ELEMENT_F32, .in = fine, .n = 2};
    facts = facts_of(&p);
    cr_expect_eq(facts_check(&facts, ELEMENT_F32, &fault), 0);
}

/* 2^100 + 1 - 2^100: the sum is kept in two parts. */
Test(verify, the_reference_keeps_what_long_double_loses)
{
    const double x[] = {0x1p100, 1, -0x1p100, 0};
    double got[] = {0, 0x1p100, 0x1p100, NAN};
    struct problem p = {.element = ELEMENT_F64, .in = x, .n = 4};
    struct facts facts = facts_of(&p);
    cr_expect(!facts.exact);
    struct verdict verdict = verify_all(&p, got, 3, 0);
    cr_expect_eq(verdict.wrong, 1);
    cr_expect_str_eq(verdict.first[0].want, "1");
}

Test(verify, integers_wrap_around)
{
    static const int32_t ints[] = {INT32_MAX, 1, 5}, int_sums[] = {0, INT32_MAX, INT32_MIN};
    static const int64_t longs[] = {INT64_MAX, -1, 1, 1},
                         long_sums[] = {0, INT64_MAX, INT64_MAX - 1, INT64_MAX};
    static const int8_t bytes[] = {127, 127, -128};
    static const int32_t byte_sums[] = {0, 127, 254};
    static const struct {
        enum element element;
        size_t n;
        const void *in, *sums;
    } cases[] = {{ELEMENT_I32, 3, ints, int_sums},
                 {ELEMENT_I64, 4, longs, long_sums},
                 {ELEMENT_I8, 3, bytes, byte_sums}};
    for (size_t i = 0; i < 3; i++) {
        struct problem p = {.element = cases[i].element, .in = cases[i].in, .n = cases[i].n};
        cr_expect(verify_all(&p, cases[i].sums, 3, 0).right, "case %zu", i);
    }
}

/* Pieces with elements left out between them: the elements that are compared are judged as
 * before. */
Test(verify, pieces)
{
    struct problem p = {.element = ELEMENT_F32, .in = in, .n = N};
    integers(in, out, N, false);
    struct facts facts = facts_of(&p);
    for (int spoiled = 0; spoiled < 2; spoiled++) {
        struct verifier v;
        out[2500] += (float)spoiled;
        verify_begin(&v, &p, &facts, 10, 0);
        verify_piece(&v, out, 0, 1);
        verify_piece(&v, out + 1, 1, 99);
        verify_piece(&v, out + 2400, 2400, 300);
        verify_piece(&v, out + N - 1, N - 1, 1);
        struct verdict verdict = verify_end(&v);
        cr_expect_eq(verdict.checked, 401);
        cr_expect_eq(verdict.right, !spoiled);
        cr_expect_eq(verdict.wrong, (size_t)spoiled);
    }
}

Test(verify, a_reference_of_the_steps_own)
{
    const float squares_of[] = {1, 2, 3, 4};
    const double want[] = {0, 1, 5, 14};
    float got[] = {0, 1, 5, 14};
    struct problem p = {.element = ELEMENT_F32, .in = squares_of, .n = 4, .reference = want};
    cr_expect(facts_of(&p).exact);
    for (int spoiled = 0; spoiled < 2; spoiled++) {
        got[3] += (float)spoiled;
        cr_expect_eq(verify_all(&p, got, 3, 0).right, !spoiled);
    }
}

/* ---- -0 -------------------------------------------------------------------------------------- */

/* 0 + x, x + (-x) and 0 + (-0) are +0; only -0 + (-0) is -0. */
Test(verify, minus_zero_is_right_only_as_a_sum_of_minus_zeros)
{
    const float zeros[] = {-0.0f, -0.0f, 0, -0.0f}, pair[] = {1, -1, -0.0f, 2};
    const float real[] = {0.3f, -0.3f, 1 / 3.0f, -1 / 3.0f};
    const struct {
        const float *in;
        bool inclusive;
        bool may[4]; /* be -0, where the sum is 0 */
    } cases[] = {
        {zeros, false, {false, true, true, false}},  {zeros, true, {true, true, false, false}},
        {pair, false, {false, false, false, false}}, {pair, true, {false, false, false, false}},
        {real, false, {false, false, false, false}}, {real, true, {false, false, false, false}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t i = 0; i < 4; i++) {
            float right[4], sum = 0;
            for (size_t k = 0; k < 4; k++) {
                right[k] = cases[c].inclusive ? sum + cases[c].in[k] : sum;
                sum += cases[c].in[k];
            }
            cr_expect(verify(cases[c].in, right, 4, cases[c].inclusive, 3, 0).right);
            if (right[i] != 0) continue;
            right[i] = -0.0f;
            struct verdict v = verify(cases[c].in, right, 4, cases[c].inclusive, 3, 0);
            cr_expect_eq(v.right, cases[c].may[i], "case %zu, element %zu", c, i);
            if (v.right) continue;
            cr_expect_eq(v.wrong, 1);
            cr_expect_str_eq(v.first[0].got, "-0");
            cr_expect(strstr(v.cause, "-0 for 0"), "%s", v.cause);
        }
}

/* Where the exact sum is not 0 but less than the bound, a result of 0 may be right; -0 is not. */
Test(verify, minus_zero_is_wrong_within_the_bound)
{
    const float x[] = {1, 0x1p-30f, -1, 0};
    float sums[] = {0, 1, 1, 0};
    cr_expect(verify(x, sums, 4, false, 3, 0).right);
    sums[3] = -0.0f;
    cr_expect_not(verify(x, sums, 4, false, 3, 0).right);
}

/* ---- causes ---------------------------------------------------------------------------------- */

enum { BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static float right[N + 1];

/* Integers and their scan, exclusive or inclusive, which is also the output to be spoiled. No two
 * blocks have the same sum, and no element equals the sum of a block. */
static void begin(bool inclusive)
{
    float sum = 0;
    for (size_t i = 0; i < N; i++) {
        in[i] = (float)((i * i * 7919 + i) % 199) - 80;
        right[i] = inclusive ? sum + in[i] : sum;
        sum += in[i];
    }
    right[N] = sum;
    memcpy(out, right, sizeof out);
}

/* The same for real numbers. */
static void begin_real(void)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        in[i] = (float)(0.75 + sin((double)(i * i)) / 4);
        if (i * 2654435761u & 256) in[i] = -in[i];
        right[i] = (float)sum;
        sum += in[i];
    }
    right[N] = (float)sum;
    memcpy(out, right, sizeof out);
}

static struct verdict judge(bool inclusive, size_t block)
{
    struct problem p = {.element = ELEMENT_F32, .in = in, .n = N, .inclusive = inclusive};
    struct verdict verdict = verify_all(&p, out, 24, block);
    cr_expect_not(verdict.right);
    return verdict;
}

/* Judges the output, and restores it. */
static void expect_cause_of(bool inclusive, const char *part)
{
    struct verdict v = judge(inclusive, BLOCK);
    bool is_named = *part ? strstr(v.cause, part) != NULL : !*v.cause;
    cr_expect(is_named, "\"%s\" is not \"%s\"", v.cause, part);
    begin(inclusive);
}
static void expect_cause(const char *part) { expect_cause_of(false, part); }

static void add(size_t first, size_t end, float x)
{
    for (size_t i = first; i < end; i++) out[i] += x;
}

/* The cause if x is added to these elements; if one is another; if the bytes of some are. */
static void expect_added(size_t first, size_t end, float x, const char *part)
{
    add(first, end, x);
    expect_cause(part);
}

static void expect_changed(size_t i, float x, const char *part)
{
    out[i] = x;
    expect_cause(part);
}

static void expect_filled(size_t first, size_t count, int byte, const char *part)
{
    memset(&out[first], byte, count * sizeof *out);
    expect_cause(part);
}

/* The sum of all elements before block k, and the sum of block k. */
static float before(size_t k) { return right[k * BLOCK]; }
static float sum_of(size_t k) { return before(k + 1) - before(k); }

/* ---- memory that was not written, and values ------------------------------------------------- */

Test(causes, never_written)
{
    begin(false);
    memset(out, VERIFY_POISON, sizeof out);
    struct verdict v = judge(false, 0);
    cr_expect_str_eq(v.first[0].got, "never written");
    cr_expect_eq(v.shown, VERIFY_SHOWN);
    cr_expect_eq(v.wrong, N);
    expect_cause("the output was never written");
    expect_filled(N - 9, 9, VERIFY_POISON, "the last 9 elements were never written");
    expect_filled(N - 9, 8, VERIFY_POISON, "8 elements were never written, the first is 2991");
    memset(&out[7], VERIFY_POISON, sizeof *out);
    expect_filled(N - 1, 1, VERIFY_POISON, "2 elements were never written, the first is 7");
    memset(&out[7], VERIFY_POISON, sizeof *out);
    expect_changed(8, out[8] + 1, "");
}

Test(causes, never_stored)
{
    begin(false);
    memset(&out[40], VERIFY_UNSTORED, 8 * sizeof *out);
    struct verdict v = judge(false, 0);
    cr_expect_str_eq(v.first[0].got, "never stored");
    expect_cause("memory was read before anything was stored there");
    memset(&out[40], VERIFY_UNSTORED, 8 * sizeof *out);
    expect_changed(8, out[8] + 1, "");
}

/* One wrong element of an input, or of a part of it. */
static void expect_cause_of_one(struct problem p, size_t wrong, const char *cause)
{
    float got[4], sum = 0;
    for (size_t i = 0; i < p.n; sum += in[i++]) got[i] = i == wrong ? sum + 1000 : sum;
    struct verdict verdict = verify_all(&p, got, 3, 0);
    cr_expect_not(verdict.right);
    cr_expect_str_eq(verdict.cause, cause);
}

Test(causes, the_last_of_one_or_two_elements_is_not_named)
{
    struct problem p = {.element = ELEMENT_F32, .in = in, .n = 4};
    begin(false);
    expect_cause_of_one(p, 3, "only the last element is wrong");
    for (size_t n = 1; n <= 2; n++)
        expect_cause_of_one((struct problem){.element = ELEMENT_F32, .in = in, .n = n}, n - 1, "");
    p.ahead = true;
    expect_cause_of_one(p, 3, "");
}

Test(causes, of_a_part_indices_count_the_elements_before)
{
    struct problem p = {.element = ELEMENT_F32, .in = in, .n = N, .before = 64};
    begin(false);
    memset(&out[7], VERIFY_POISON, sizeof *out);
    cr_expect_str_eq(verify_all(&p, out, 24, 0).cause, "element 71 was never written");
}

/* The bytes of an integer that was never written are those of -1. */
Test(causes, minus_one_is_not_called_unwritten)
{
    int32_t ints[] = {5, 2, 3, 4}, sums[] = {0, -1, 7, 10};
    struct problem p = {.element = ELEMENT_I32, .in = ints, .n = 4};
    struct verdict verdict = verify_all(&p, sums, 3, 0);
    cr_expect_str_eq(verdict.first[0].got, "-1");
    cr_expect(strstr(verdict.cause, "never written, or written as -1"), "%s", verdict.cause);
}

Test(causes, nan_and_minus_zero)
{
    begin(false);
    out[9] = out[100] = NAN;
    expect_cause("NaN for a number");
    out[9] = NAN;
    expect_changed(10, out[10] + 1, "");
    expect_changed(0, -0.0f, "-0 for 0");
    out[0] = -0.0f;
    expect_changed(9, out[9] + 1, "");
    out[9] = -0.0f; /* where the sum is not 0 */
    cr_assert_neq(right[9], 0);
    expect_cause("");
}

Test(causes, zeros_copies_and_doubles)
{
    begin(false);
    memset(out, 0, sizeof out);
    expect_cause("zeros: every wrong element is 0");
    expect_filled(10, 20, 0, "zeros: every wrong element is 0");
    memset(&out[10], 0, 20 * sizeof *out);
    expect_changed(500, out[500] + 1, "");
    memcpy(out, in, sizeof out);
    expect_cause("the input was copied, not scanned");
    memcpy(out, in, sizeof out / 2);
    expect_changed(N / 2, out[N / 2] + 1, "");
    for (size_t i = 0; i < N; i++) out[i] *= 2;
    expect_cause("twice the sum");
    for (size_t i = 0; i < N; i++) out[i] *= 3;
    expect_cause("");
    expect_changed(N - 1, 2 * out[N - 1], "only the last element is wrong");
    expect_changed(N - 2, 2 * out[N - 2], "");
}

/* ---- neighbours ------------------------------------------------------------------------------ */

Test(causes, neighbours)
{
    begin(false);
    memcpy(out, right + 1, sizeof out);
    expect_cause("inclusive for exclusive");
    memcpy(out, right + 1, sizeof out - sizeof *out);
    expect_cause("right neighbour's");
    memcpy(out + 1, right, sizeof out - sizeof *out);
    expect_cause("left neighbour's");
    memcpy(out + 1, right, sizeof out - sizeof *out);
    expect_changed(77, out[77] + 1, "");
    for (size_t i = 0; i < N; i++) out[i] = right[i ^ 1];
    expect_cause("neighbours were swapped, first 0 and 1");
    out[40] = right[41], out[41] = right[40];
    expect_cause("neighbours were swapped, first 40 and 41");
    out[40] = right[42], out[42] = right[40]; /* not neighbours */
    expect_cause("");
    for (size_t i = 0; i < N; i++) out[i] = right[i ^ 1];
    out[0] = out[1] = 5000;
    expect_cause("most are swapped with a neighbour, first 0 and 1");
    /* The last output has the value that a right neighbour would have. */
    expect_changed(N - 1, right[N], "only the last element is wrong");
}

Test(causes, exclusive_for_inclusive)
{
    begin(true);
    for (size_t i = N - 1; i > 0; i--) out[i] = right[i - 1];
    out[0] = 0;
    expect_cause_of(true, "exclusive for inclusive");
    for (size_t i = 0; i + 1 < N; i++) out[i] = right[i + 1];
    expect_cause_of(true, "right neighbour's");
}

/* ---- blocks ---------------------------------------------------------------------------------- */

Test(causes, carry_of_one_block)
{
    begin(false);
    for (size_t k = 1; k < BLOCKS; k++) {
        size_t first = k * BLOCK, end = k + 1 < BLOCKS ? first + BLOCK : N;
        char text[80];
        snprintf(text, sizeof text, "carry of block %zu dropped: elements %zu to %zu", k, first,
                 end - 1);
        expect_added(first, end, -before(k), text);
        snprintf(text, sizeof text, "carry of block %zu added twice", k);
        expect_added(first, end, before(k), text);
    }
}

/* An error of another amount is not called a carry, wherever it begins. */
Test(causes, an_offset_that_is_no_carry)
{
    static const char neutral[] = "all are off by the same";
    const size_t k = 5, first = k * BLOCK;
    begin(false);
    expect_added(first, first + BLOCK, 0.5f, neutral);
    expect_added(first, first + BLOCK, -before(k) + 1, neutral);
    expect_added(first, first + BLOCK, -before(k + 1), neutral); /* of another block */
    expect_added(first, first + BLOCK, -sum_of(k - 1), neutral); /* the block after it is right */
    expect_added(first, N, 0.5f, neutral);
    expect_added(first, N, -before(k), neutral); /* the blocks after it, too */
    expect_added(first, N, -sum_of(k), neutral); /* its own sum */
    expect_added(first, first + BLOCK - 1, -before(k), neutral); /* not all of the block */
    expect_added(first + 1, first + BLOCK, -before(k), neutral);
    expect_added(first, first + 2 * BLOCK, -before(k), neutral); /* two blocks */
    expect_added(0, BLOCK, 1, neutral); /* nothing lies before block 0 */
    expect_added(0, N, 1, neutral);
}

Test(causes, sum_of_a_block)
{
    begin(false);
    for (size_t k = 1; k < BLOCKS; k++) {
        char text[80];
        snprintf(text, sizeof text, "sum of block %zu left out: everything from element %zu", k - 1,
                 k * BLOCK);
        expect_added(k * BLOCK, N, -sum_of(k - 1), text);
        snprintf(text, sizeof text, "sum of block %zu added twice", k - 1);
        expect_added(k * BLOCK, N, sum_of(k - 1), text);
    }
}

Test(causes, carries_of_several_blocks)
{
    begin(false);
    for (size_t k = 1; k < BLOCKS; k++)
        add(k * BLOCK, k + 1 < BLOCKS ? (k + 1) * BLOCK : N, -before(k));
    expect_cause("carries dropped: 23 blocks begin at 0 again, the first is block 1");
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    expect_added(7 * BLOCK, 8 * BLOCK, -before(7),
                 "carries dropped: 2 blocks begin at 0 again, the first is block 3");
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    expect_added(7 * BLOCK, 8 * BLOCK - 1, -before(7), ""); /* but its last element is right */
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    expect_added(7 * BLOCK, 8 * BLOCK, -before(3), ""); /* another block's */
}

/* Without a block size, or with a wrong one, the cause does not mention blocks. */
Test(causes, blocks_of_unknown_size)
{
    static const size_t sizes[] = {0, 64, 100, 256};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        begin(false);
        add(6 * BLOCK, 7 * BLOCK, -before(6));
        struct verdict v = judge(false, sizes[i]);
        cr_expect(strstr(v.cause, "all are off by the same"), "%s", v.cause);
    }
}

static void expect_added_to_reals(size_t first, size_t end, float x, const char *part)
{
    begin_real();
    add(first, end, x);
    struct verdict v = judge(false, BLOCK);
    cr_expect(strstr(v.cause, part), "\"%s\" is not \"%s\"", v.cause, part);
}

/* Real sums are compared within the bound. */
Test(causes, blocks_of_real_numbers)
{
    begin_real();
    cr_assert(fabsf(before(6)) > 1 && fabsf(sum_of(5)) > 1);
    expect_added_to_reals(6 * BLOCK, 7 * BLOCK, -before(6), "carry of block 6 dropped");
    expect_added_to_reals(6 * BLOCK, 7 * BLOCK, 0.3f, "all are off by the same 0.3");
    expect_added_to_reals(6 * BLOCK, N, -sum_of(5), "sum of block 5 left out");
    expect_added_to_reals(701, N, -in[700], "element 700 of the input was left out");
}

/* ---- elements of the input ------------------------------------------------------------------- */

Test(causes, element_left_out_or_added_twice)
{
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        size_t from = inclusive ? 700 : 701; /* the first output with element 700 in it */
        begin(inclusive);
        cr_assert(in[699] != in[700] && in[701] != in[700] && in[700] != 0);
        add(from, N, -in[700]);
        expect_cause_of(inclusive, "element 700 of the input was left out");
        add(from, N, in[700]);
        expect_cause_of(inclusive, "element 700 of the input was added twice");
        add(from, N, -in[inclusive ? 699 : 701]); /* a neighbour's */
        expect_cause_of(inclusive, "all are off by the same");
        add(from, 900, -in[700]); /* and is back later */
        expect_cause_of(inclusive, "all are off by the same");
        add(from, N, -2 * in[700]);
        expect_cause_of(inclusive, "all are off by the same");
    }
}

/* A single wrong element does not show the cause. */
Test(causes, one_element)
{
    begin(false);
    expect_changed(700, out[700] + 1, "");
    expect_changed(700, 0, "");
    expect_changed(700, in[700], "");
    expect_changed(5 * BLOCK, out[5 * BLOCK] - before(5), "");
}

/* test_verify.c — what the verifier accepts and what it rejects, without any kernel. */
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <math.h>
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
    cr_expect(!facts.plain && !facts.exact);
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

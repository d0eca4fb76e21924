/*
 * test_causes.c — the verifier's guess at a cause: each cause is named where it applies, and not
 * where another error looks similar.
 */
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3000, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static float in[N], right[N + 1], out[N];

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
    struct facts facts = facts_of(&p);
    struct verifier v;
    verify_begin(&v, &p, &facts, 24, block);
    verify_piece(&v, out, 0, N);
    struct verdict verdict = verify_end(&v);
    cr_expect_not(verdict.right);
    return verdict;
}

/* Judges the output, and restores it. */
#define expect_cause(part) expect_cause_of(false, part, __LINE__)
static void expect_cause_of(bool inclusive, const char *part, int line)
{
    struct verdict v = judge(inclusive, BLOCK);
    if (*part)
        cr_expect(strstr(v.cause, part), "line %d: \"%s\" is not named: \"%s\"", line, part,
                  v.cause);
    else
        cr_expect_str_empty(v.cause, "line %d: named \"%s\"", line, v.cause);
    begin(inclusive);
}

static void add(size_t first, size_t end, float x)
{
    for (size_t i = first; i < end; i++) out[i] += x;
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
    memset(&out[N - 9], VERIFY_POISON, 9 * sizeof *out);
    expect_cause("the last 9 elements were never written");
    memset(&out[N - 9], VERIFY_POISON, 8 * sizeof *out);
    expect_cause("8 elements were never written, the first is 2991");
    memset(&out[7], VERIFY_POISON, sizeof *out);
    memset(&out[N - 1], VERIFY_POISON, sizeof *out);
    expect_cause("2 elements were never written, the first is 7");
    memset(&out[7], VERIFY_POISON, sizeof *out);
    out[8]++;
    expect_cause("");
}

Test(causes, never_stored)
{
    begin(false);
    memset(&out[40], VERIFY_UNSTORED, 8 * sizeof *out);
    struct verdict v = judge(false, 0);
    cr_expect_str_eq(v.first[0].got, "never stored");
    expect_cause("memory was read before anything was stored there");
    memset(&out[40], VERIFY_UNSTORED, 8 * sizeof *out);
    out[8]++;
    expect_cause("");
}

/* One wrong element of an input, or of a part of it. */
static void expect_cause_of_one(struct problem p, size_t wrong, const char *cause)
{
    struct facts facts = facts_of(&p);
    struct verifier v;
    float got[4], sum = 0;
    for (size_t i = 0; i < p.n; sum += in[i++]) got[i] = i == wrong ? sum + 1000 : sum;
    verify_begin(&v, &p, &facts, 3, 0);
    verify_piece(&v, got, 0, p.n);
    struct verdict verdict = verify_end(&v);
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
    struct verifier v;
    begin(false);
    struct facts facts = facts_of(&p);
    memset(&out[7], VERIFY_POISON, sizeof *out);
    verify_begin(&v, &p, &facts, 24, 0);
    verify_piece(&v, out, 0, N);
    cr_expect_str_eq(verify_end(&v).cause, "element 71 was never written");
}

/* The bytes of an integer that was never written are those of -1. */
Test(causes, minus_one_is_not_called_unwritten)
{
    int32_t ints[] = {5, 2, 3, 4}, sums[] = {0, -1, 7, 10};
    struct problem p = {.element = ELEMENT_I32, .in = ints, .n = 4};
    struct facts facts = facts_of(&p);
    struct verifier v;
    verify_begin(&v, &p, &facts, 3, 0);
    verify_piece(&v, sums, 0, 4);
    struct verdict verdict = verify_end(&v);
    cr_expect_str_eq(verdict.first[0].got, "-1");
    cr_expect(strstr(verdict.cause, "never written, or written as -1"), "%s", verdict.cause);
}

Test(causes, nan_and_minus_zero)
{
    begin(false);
    out[9] = out[100] = NAN;
    expect_cause("NaN for a number");
    out[9] = NAN;
    out[10]++;
    expect_cause("");
    out[0] = -0.0f;
    expect_cause("-0 for 0");
    out[0] = -0.0f;
    out[9]++;
    expect_cause("");
    out[9] = -0.0f; /* where the sum is not 0 */
    cr_assert_neq(right[9], 0);
    expect_cause("");
}

Test(causes, zeros_copies_and_doubles)
{
    begin(false);
    memset(out, 0, sizeof out);
    expect_cause("zeros: every wrong element is 0");
    memset(&out[10], 0, 20 * sizeof *out);
    expect_cause("zeros: every wrong element is 0");
    memset(&out[10], 0, 20 * sizeof *out);
    out[500]++;
    expect_cause("");
    memcpy(out, in, sizeof out);
    expect_cause("the input was copied, not scanned");
    memcpy(out, in, sizeof out / 2);
    out[N / 2]++;
    expect_cause("");
    for (size_t i = 0; i < N; i++) out[i] *= 2;
    expect_cause("twice the sum");
    for (size_t i = 0; i < N; i++) out[i] *= 3;
    expect_cause("");
    out[N - 1] *= 2;
    expect_cause("only the last element is wrong");
    out[N - 2] *= 2;
    expect_cause("");
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
    out[77]++;
    expect_cause("");
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
    out[N - 1] = right[N];
    expect_cause("only the last element is wrong");
}

Test(causes, exclusive_for_inclusive)
{
    begin(true);
    for (size_t i = N - 1; i > 0; i--) out[i] = right[i - 1];
    out[0] = 0;
    expect_cause_of(true, "exclusive for inclusive", __LINE__);
    for (size_t i = 0; i + 1 < N; i++) out[i] = right[i + 1];
    expect_cause_of(true, "right neighbour's", __LINE__);
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
        add(first, end, -before(k));
        expect_cause(text);
        snprintf(text, sizeof text, "carry of block %zu added twice", k);
        add(first, end, before(k));
        expect_cause(text);
    }
}

/* An error of another amount is not called a carry, wherever it begins. */
Test(causes, an_offset_that_is_no_carry)
{
    static const char neutral[] = "all are off by the same";
    const size_t k = 5, first = k * BLOCK;
    begin(false);
    add(first, first + BLOCK, 0.5f);
    expect_cause(neutral);
    add(first, first + BLOCK, -before(k) + 1);
    expect_cause(neutral);
    add(first, first + BLOCK, -before(k + 1)); /* of another block */
    expect_cause(neutral);
    add(first, first + BLOCK, -sum_of(k - 1)); /* and the block after it is right */
    expect_cause(neutral);
    add(first, N, 0.5f);
    expect_cause(neutral);
    add(first, N, -before(k)); /* the blocks after it, too */
    expect_cause(neutral);
    add(first, N, -sum_of(k)); /* its own sum */
    expect_cause(neutral);
    add(first, first + BLOCK - 1, -before(k)); /* not all of the block */
    expect_cause(neutral);
    add(first + 1, first + BLOCK, -before(k));
    expect_cause(neutral);
    add(first, first + 2 * BLOCK, -before(k)); /* two blocks */
    expect_cause(neutral);
    add(0, BLOCK, 1); /* nothing lies before block 0 */
    expect_cause(neutral);
    add(0, N, 1);
    expect_cause(neutral);
}

Test(causes, sum_of_a_block)
{
    begin(false);
    for (size_t k = 1; k < BLOCKS; k++) {
        char text[80];
        snprintf(text, sizeof text, "sum of block %zu left out: everything from element %zu", k - 1,
                 k * BLOCK);
        add(k * BLOCK, N, -sum_of(k - 1));
        expect_cause(text);
        snprintf(text, sizeof text, "sum of block %zu added twice", k - 1);
        add(k * BLOCK, N, sum_of(k - 1));
        expect_cause(text);
    }
}

Test(causes, carries_of_several_blocks)
{
    begin(false);
    for (size_t k = 1; k < BLOCKS; k++)
        add(k * BLOCK, k + 1 < BLOCKS ? (k + 1) * BLOCK : N, -before(k));
    expect_cause("carries dropped: 23 blocks begin at 0 again, the first is block 1");
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    add(7 * BLOCK, 8 * BLOCK, -before(7));
    expect_cause("carries dropped: 2 blocks begin at 0 again, the first is block 3");
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    add(7 * BLOCK, 8 * BLOCK - 1, -before(7)); /* but its last element is right */
    expect_cause("");
    add(3 * BLOCK, 4 * BLOCK, -before(3));
    add(7 * BLOCK, 8 * BLOCK, -before(3)); /* another block's */
    expect_cause("");
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

/* Real sums are compared within the bound. */
Test(causes, blocks_of_real_numbers)
{
    begin_real();
    cr_assert_gt(fabs(before(6)), 1);
    add(6 * BLOCK, 7 * BLOCK, -before(6));
    struct verdict v = judge(false, BLOCK);
    cr_expect(strstr(v.cause, "carry of block 6 dropped"), "%s", v.cause);
    begin_real();
    add(6 * BLOCK, 7 * BLOCK, 0.3f);
    v = judge(false, BLOCK);
    cr_expect(strstr(v.cause, "all are off by the same 0.3"), "%s", v.cause);
    begin_real();
    cr_assert_gt(fabs(sum_of(5)), 1);
    add(6 * BLOCK, N, -sum_of(5));
    v = judge(false, BLOCK);
    cr_expect(strstr(v.cause, "sum of block 5 left out"), "%s", v.cause);
    begin_real();
    add(701, N, -in[700]);
    v = judge(false, BLOCK);
    cr_expect(strstr(v.cause, "element 700 of the input was left out"), "%s", v.cause);
}

/* ---- elements of the input ------------------------------------------------------------------- */

Test(causes, element_left_out_or_added_twice)
{
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        size_t from = inclusive ? 700 : 701; /* the first output with element 700 in it */
        begin(inclusive);
        cr_assert(in[699] != in[700] && in[701] != in[700] && in[700] != 0);
        add(from, N, -in[700]);
        expect_cause_of(inclusive, "element 700 of the input was left out", __LINE__);
        add(from, N, in[700]);
        expect_cause_of(inclusive, "element 700 of the input was added twice", __LINE__);
        add(from, N, -in[inclusive ? 699 : 701]); /* a neighbour's */
        expect_cause_of(inclusive, "all are off by the same", __LINE__);
        add(from, 900, -in[700]); /* and is back later */
        expect_cause_of(inclusive, "all are off by the same", __LINE__);
        add(from, N, -2 * in[700]);
        expect_cause_of(inclusive, "all are off by the same", __LINE__);
    }
}

/* A single wrong element does not show the cause. */
Test(causes, one_element)
{
    begin(false);
    out[700]++;
    expect_cause("");
    out[700] = 0;
    expect_cause("");
    out[700] = in[700];
    expect_cause("");
    out[5 * BLOCK] -= before(5);
    expect_cause("");
}

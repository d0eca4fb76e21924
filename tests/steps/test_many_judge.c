/*
 * test_many_judge.c — what step 17's judge takes for right and for wrong, and its options. The
 * parts of several ranks are judged one after the other, as the ranks do it.
 */
#include "steps/17-many-gpus/command/judge.h"
#include "steps/17-many-gpus/command/request.h"
#include "steps/17-many-gpus/parts/shape.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000, RANKS = 3 };

/* As runs.c does it. */
static void pass(struct reference *before, enum many_op op, const void *in, const void *in2,
                 size_t count)
{
    struct reference own = reference_begin();
    reference_pass(op == MANY_AFFINE_F32 ? before : &own, op, in, in2, count);
    if (op != MANY_AFFINE_F32) reference_join(before, &own);
}

/* Compares results in three parts. Returns the verdict on the part that `out` has wrong, or on the
 * last one. */
static struct verdict judge(enum many_op op, bool inclusive, const void *in, const void *in2,
                            const void *out)
{
    struct judge j = {.op = op, .inclusive = inclusive, .depth = 40};
    struct reference before = reference_begin();
    size_t size = many_element_bytes(op);
    for (int rank = 0; rank < RANKS; rank++) {
        struct many_part part = many_part_of(N, RANKS, rank);
        j.first = part.begin;
        j.in = (const char *)in + part.begin * size;
        j.in2 = in2 ? (const char *)in2 + part.begin * size : NULL;
        judge_begin(&j, &before);
        judge_piece(&j, (const char *)out + part.begin * size, part.count / 2);
        judge_piece(&j, (const char *)out + (part.begin + part.count / 2) * size,
                    part.count - part.count / 2);
        cr_expect_eq(j.verdict.checked, part.count);
        if (!j.verdict.right) break;
        pass(&before, op, j.in, j.in2, part.count);
    }
    return j.verdict;
}

/* ---- integers -------------------------------------------------------------------------------- */

Test(many_judge, integers_wrap_and_have_to_be_equal)
{
    static int32_t in[N], out[N];
    uint32_t sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = 1 << 30;
        out[i] = (int32_t)sum;
        sum += (uint32_t)in[i];
    }
    struct verdict v = judge(MANY_SUM_I32, false, in, NULL, out);
    cr_expect(v.right && v.exact && v.wrong == 0);
    out[15000]++;
    v = judge(MANY_SUM_I32, false, in, NULL, out);
    cr_expect(!v.right);
    cr_expect_eq(v.wrong, 1);
    cr_expect_eq(v.first[0].index, 15000);
    cr_expect_str_eq(v.first[0].got, "1");
    cr_expect_str_eq(v.first[0].want, "0");
}

Test(many_judge, wide_integers)
{
    static int64_t in[N], out[N];
    uint64_t sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = INT64_MAX - i;
        sum += (uint64_t)in[i];
        out[i] = (int64_t)sum;
    }
    cr_expect(judge(MANY_SUM_I64, true, in, NULL, out).right);
    out[N - 1] ^= (int64_t)1 << 62;
    cr_expect(!judge(MANY_SUM_I64, true, in, NULL, out).right);
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* Whole numbers whose sums a float holds are exact: a difference of 1 shows. */
Test(many_judge, exact_sums)
{
    static float in[N], out[N];
    float sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = (float)(i % 7 - 3);
        out[i] = sum;
        sum += in[i];
    }
    struct verdict v = judge(MANY_SUM_F32, false, in, NULL, out);
    cr_expect(v.right && v.exact);
    out[9000] += 1;
    v = judge(MANY_SUM_F32, false, in, NULL, out);
    cr_expect(!v.right && v.wrong == 1 && v.first[0].index == 9000);
}

/* Sums of a tree that are correctly rounded are within the bound; one element too many is not. */
Test(many_judge, rounded_sums)
{
    static double in[N], out[N];
    long double sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = 1 / (1.0 + i);
        sum += in[i];
        out[i] = (double)sum;
    }
    struct verdict v = judge(MANY_SUM_F64, true, in, NULL, out);
    cr_expect(v.right && !v.exact);
    cr_expect(v.worst < 0.1, "%g", v.worst);
    out[N - 1] += in[N - 1];
    cr_expect(!judge(MANY_SUM_F64, true, in, NULL, out).right);
    out[N - 1] = NAN;
    cr_expect(!judge(MANY_SUM_F64, true, in, NULL, out).right);
}

Test(many_judge, nan_and_infinities_have_to_be_the_same)
{
    static float in[N], out[N];
    for (int i = 0; i < N; i++) out[i] = i < 10 ? 0 : i < 12000 ? INFINITY : NAN;
    in[10] = INFINITY;
    in[12000] = -INFINITY;
    cr_expect(judge(MANY_SUM_F32, true, in, NULL, out).right);
    out[11000] = -INFINITY;
    cr_expect(!judge(MANY_SUM_F32, true, in, NULL, out).right);
    out[11000] = INFINITY;
    out[13000] = 0;
    cr_expect(!judge(MANY_SUM_F32, true, in, NULL, out).right);
}

/* ---- affine ---------------------------------------------------------------------------------- */

Test(many_judge, affine_in_a_loop_of_floats)
{
    static float a[N], b[N], out[N];
    float h = 0;
    for (int i = 0; i < N; i++) {
        a[i] = (float)(i % 11 - 5) / 6;
        b[i] = (float)(i % 13 - 6) / 7;
        out[i] = h;
        h = fmaf(a[i], h, b[i]);
    }
    struct verdict v = judge(MANY_AFFINE_F32, false, a, b, out);
    cr_expect(v.right && !v.exact && v.worst < 1, "%g", v.worst);
    out[17000] = 1.001f * out[17000] + 0.001f;
    v = judge(MANY_AFFINE_F32, false, a, b, out);
    cr_expect(!v.right && v.first[0].index == 17000);
}

/* ---- joining parts --------------------------------------------------------------------------- */

Test(many_judge, joined_parts_are_the_whole)
{
    static float in[N];
    struct reference whole = reference_begin(), joined = whole;
    for (int i = 0; i < N; i++) in[i] = (float)(i % 2 ? 1000 - i : i / 3);
    reference_pass(&whole, MANY_SUM_F32, in, NULL, N);
    pass(&joined, MANY_SUM_F32, in, NULL, 7000);
    pass(&joined, MANY_SUM_F32, in + 7000, NULL, 0);
    pass(&joined, MANY_SUM_F32, in + 7000, NULL, N - 7000);
    cr_expect(whole.whole && joined.whole);
    cr_expect_eq(joined.count, N);
    cr_expect_eq(joined.sum, whole.sum);
    cr_expect_eq(joined.low, whole.low);
    cr_expect_eq(joined.high, whole.high);
    cr_expect_lt(whole.low, 0);
    cr_expect_gt(whole.high, 0);
    cr_expect_eq(joined.magnitude, whole.magnitude);
    cr_expect_eq(joined.least, 1);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(enum many_op op, const float *a, const float *b, const char *text)
{
    struct reference r = reference_begin();
    struct fault fault = {0};
    reference_pass(&r, op, a, b, 3);
    cr_expect_eq(reference_check(&r, op, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, text), "expected \"%s\" in: %s", text, fault.text);
}

Test(many_judge, what_overflows_in_some_order_is_refused)
{
    const float large[] = {3e38f, -3e38f, 1}, one[] = {1, 1, 1}, grows[] = {1e30f, 0, 1e20f};
    const float infinite[] = {1, INFINITY, 1};
    struct reference r = reference_begin();
    struct fault fault;
    reference_pass(&r, MANY_AFFINE_F32, one, one, 3);
    cr_expect_eq(reference_check(&r, MANY_AFFINE_F32, &fault), 0);
    expect_refused(MANY_SUM_F32, large, NULL, "beyond the largest float");
    expect_refused(MANY_AFFINE_F32, grows, one, "products of neighbours of a reach 1e+50");
    expect_refused(MANY_AFFINE_F32, one, large, "|b| sum to 6e+38");
    expect_refused(MANY_AFFINE_F32, infinite, one, "a or b of element 1 is not finite");
}

/* ---- the options of the ranks ---------------------------------------------------------------- */

Test(many_request, ranks_with_other_options)
{
    struct options o = {.n = 100, .seed = 1, .reps = REPS_DEFAULT}, other = o;
    const struct request request = {.exchange = CHOOSE_ANY, .wait = 300};
    struct settings own, of_rank_0;
    struct fault fault = {0};
    settings_of(&request, &o, &of_rank_0);
    settings_of(&request, &other, &own);
    cr_expect_eq(settings_compare(&own, &of_rank_0, &fault), 0);
    other.inclusive = true;
    settings_of(&request, &other, &own);
    cr_expect_eq(settings_compare(&own, &of_rank_0, &fault), EXIT_USAGE);
    cr_expect_str_eq(fault.text, "--inclusive is given, but on rank 0 it is not given; give all "
                                 "ranks the same options.");
    other.n = 200;
    settings_of(&request, &other, &own);
    cr_expect_eq(settings_compare(&own, &of_rank_0, &fault), EXIT_USAGE);
    cr_expect_str_eq(fault.text,
                     "--n is 200, but on rank 0 it is 100; give all ranks the same options.");
}

/* ---- which exchange -------------------------------------------------------------------------- */

static void expect_choice(struct surroundings s, enum exchange_choice asked,
                          enum exchange_choice want)
{
    enum exchange_choice chosen;
    struct fault fault = {0};
    cr_expect_eq(choose_exchange(&s, asked, &chosen, &fault), 0, "%s", fault.text);
    cr_expect_eq(chosen, want);
}

static void expect_impossible(struct surroundings s, enum exchange_choice asked, const char *text)
{
    enum exchange_choice chosen;
    struct fault fault = {0};
    cr_expect_eq(choose_exchange(&s, asked, &chosen, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, text), "expected \"%s\" in: %s", text, fault.text);
    cr_expect_eq(choose_exchange(&s, CHOOSE_EXSCAN, &chosen, &fault), 0); /* always possible */
    cr_expect_eq(choose_exchange(&s, CHOOSE_MPI, &chosen, &fault), 0);
}

Test(many_request, exchanges_that_are_possible)
{
    struct surroundings good = {.ranks = 4, .machines = 1, .gpus = 4, .peers = true, .nccl = true};
    struct surroundings far = good, shared = good, apart = good, plain = good, emulated = good;
    expect_choice(good, CHOOSE_ANY, CHOOSE_PEER);
    expect_choice(good, CHOOSE_NCCL, CHOOSE_NCCL);
    expect_choice(good, CHOOSE_EXSCAN, CHOOSE_EXSCAN);

    far.machines = 2, far.peers = false;
    expect_choice(far, CHOOSE_ANY, CHOOSE_MPI);
    expect_choice(far, CHOOSE_NCCL, CHOOSE_NCCL);
    expect_impossible(far, CHOOSE_PEER, "needs all ranks on one machine, and they are on 2;");

    shared.gpus = 3, shared.peers = false;
    expect_choice(shared, CHOOSE_ANY, CHOOSE_MPI);
    expect_impossible(shared, CHOOSE_PEER, "peer needs a GPU for each rank, and 4 ranks share 3");
    expect_impossible(shared, CHOOSE_NCCL, "nccl needs a GPU for each rank, and 4 ranks share 3");

    apart.peers = false;
    expect_choice(apart, CHOOSE_ANY, CHOOSE_MPI);
    expect_choice(apart, CHOOSE_NCCL, CHOOSE_NCCL);
    expect_impossible(apart, CHOOSE_PEER, "needs GPUs that reach each other's memory;");

    plain.nccl = false;
    expect_impossible(plain, CHOOSE_NCCL, "this program was built without NCCL;");
    emulated.emulated = true;
    expect_choice(emulated, CHOOSE_ANY, CHOOSE_PEER);
    expect_impossible(emulated, CHOOSE_NCCL, "needs GPUs, and these are emulated;");
}

/*
 * test_bound.c — the bound of an output's error: as large as the additions of a tree say, large
 * enough for every step and input, and small enough that one wrong element shows.
 */
#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "tests/support/scan_once.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(bound, .timeout = 300);

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define U             0x1p-24 /* of float */
#define MILLION       ((size_t)1 << 20)

/* ---- by hand: elements that are all the same ------------------------------------------------- */

#define C ((double)0.7f) /* a multiple of 2^-24, so that every sum of two and more is rounded */

/* The bound after all of these elements, each of which may be repeated (`repeat`). */
static double bound_after(const struct tree *tree, const struct facts *facts, const double *x,
                          size_t elements, bool repeat)
{
    static struct bound b;
    long double sum = 0;
    bound_begin(&b, tree, facts, ELEMENT_F32);
    while (b.at < elements) {
        long double addends[64], sums[65] = {sum};
        size_t left = elements - b.at, most = left < 64 ? left : 64;
        for (size_t i = 0; i < most; i++) {
            addends[i] = x[repeat ? 0 : b.at + i];
            sums[i + 1] = sums[i] + addends[i];
        }
        size_t count = bound_look(&b, sums, most);
        bound_pass(&b, addends, sums, count);
        sum = sums[count];
    }
    bound_look(&b, &sum, 1);
    return bound_of(&b, SIZE_MAX, INFINITY);
}

/* The bound after C or -C has been added this number of times. */
static void expect_bound(const struct tree *tree, size_t elements, double units, int line)
{
    struct facts facts = {.finite = true, .magnitude = 1 << 20, .quantum = U, .greatest = C};
    for (double x = -C; x <= C; x += 2 * C) {
        double got = bound_after(tree, &facts, &x, elements, true) / (U * C);
        cr_expect(got >= units && got <= units * 1.001, "line %d: %zu elements: %g, not %g units",
                  line, elements, got, units);
    }
}

/* Each level adds up all segments that have ended: their magnitude is the number of elements. */
Test(bound, of_halves)
{
    struct tree tree = {.depth = INFINITY};
    tree_halves(&tree, 1, 1024);
    cr_expect_eq(tree.count, 10);
    cr_expect_eq(tree.joins, 10);
    expect_bound(&tree, 1024, 10 * 1024 + 10 * 1024, __LINE__);
    expect_bound(&tree, 2048, 10 * 2048 + 10 * 2048, __LINE__);
    expect_bound(&tree, 1025, 10 * 1024 + 10 * 1025, __LINE__);
    expect_bound(&tree, 3, 2 + 10 * 3, __LINE__);
    tree.joins = 0;
    expect_bound(&tree, 1023, 9 * 1024 - 1022, __LINE__); /* 1022 + 1020 + … + 512 */
}

/* A segment has 3 sums, and any of them may be as large as the sum of the segment. */
Test(bound, of_runs)
{
    struct tree tree = {.depth = INFINITY};
    tree_run(&tree, 4, 3);
    cr_expect_eq(tree.joins, 2);
    expect_bound(&tree, 4, 3 * 4 + 2 * 4, __LINE__);
    expect_bound(&tree, 11, 2 * 3 * 4 + 2 * 11, __LINE__);
}

/* A window is as large as the segment that it ends in and the one before. */
Test(bound, of_windows)
{
    struct tree tree = {.depth = INFINITY}, sweeps = {.depth = INFINITY};
    tree_windows(&tree, 1, 5);
    cr_expect_eq(tree.count, 3); /* 2, 4, 8 */
    cr_expect_eq(tree.joins, 3);
    tree.joins = sweeps.joins = 0;
    expect_bound(&tree, 2, 2, __LINE__);
    expect_bound(&tree, 8, 2 + 3 * 4 + 4 + 8 + 8, __LINE__);
    /* When a group has ended, only its segments count. */
    tree_sweeps(&sweeps, 1, 8);
    cr_expect_eq(sweeps.joins, 3);
    sweeps.joins = 0;
    expect_bound(&sweeps, 7, 2 + 2 * 4 + 4 + 3 * 2 + 4, __LINE__);
    expect_bound(&sweeps, 8, 3 * 8, __LINE__);
    expect_bound(&sweeps, 10, 3 * 8 + 4 + 2, __LINE__);
}

Test(bound, of_a_chain)
{
    struct tree tree = {.depth = INFINITY};
    tree_add(&tree, (struct tree_level){.sums = SUMS_CHAIN, .length = 1});
    expect_bound(&tree, 100, 100 * 101 / 2 - 1, __LINE__); /* 2 + 3 + … + 100 */
}

/* 32 ways with 2 vectors of 4 in a segment of 256; each level of the warp's tree adds up all
 * elements. */
Test(bound, of_strided_sums)
{
    for (int far = 0; far < 2; far++) {
        struct tree tree = {.depth = INFINITY};
        double vectors = 64 * 3 * 4, rows = 32 * 8, lanes = 5 * 256;
        tree_halves(&tree, 1, 256);
        tree_add(&tree,
                 (struct tree_level){
                     .sums = SUMS_STRIDED, .length = 256, .vector = 4, .ways = 32, .far = far});
        tree.joins = 0;
        expect_bound(&tree, 256, vectors + rows + lanes, __LINE__);
        expect_bound(&tree, 258, vectors + rows + lanes + 2, __LINE__);
        expect_bound(&tree, 512, 2 * (vectors + rows + lanes), __LINE__);
        /* The first segment has one row more. */
        tree.levels[tree.count - 1].longer = 1;
        tree.levels[tree.count - 1].extra = 128;
        tree.levels[0] = tree.levels[tree.count - 1];
        tree.count = 1;
        expect_bound(&tree, 383, 0, __LINE__);
        expect_bound(&tree, 384, 96 * 3 * 4 + 32 * 2 * 12 + 5 * 384, __LINE__);
        expect_bound(&tree, 639, 96 * 3 * 4 + 32 * 2 * 12 + 5 * 384, __LINE__);
    }
}

/* 64 ways: two warps' trees, and one addition that joins them. Ways without elements add exact
 * zeros. */
Test(bound, of_carries)
{
    struct tree tree = {.depth = INFINITY};
    tree_add(&tree, (struct tree_level){.sums = SUMS_CARRY, .length = 8, .ways = 64});
    expect_bound(&tree, 64 * 8, 6 * 64 * 8, __LINE__);
    expect_bound(&tree, 128 * 8, 64 * 16 + 6 * 128 * 8, __LINE__);
    expect_bound(&tree, 192 * 8, 64 * (16 + 24) + 6 * 192 * 8, __LINE__);
    tree.levels[0].in_double = true; /* exact, here */
    expect_bound(&tree, 192 * 8, 0, __LINE__);
}

/* t - 1 additions, any of which may have the largest error, and 5 additions of each tile in
 * warps. */
Test(bound, of_any_order)
{
    struct tree tree = {.depth = INFINITY};
    tree_add(&tree, (struct tree_level){.sums = SUMS_ANY_ORDER, .length = 8, .lanes = 1});
    expect_bound(&tree, 80, 9 * 80, __LINE__);
    expect_bound(&tree, 84, 9 * 84, __LINE__);
    tree.levels[0].lanes = 32;
    expect_bound(&tree, 80, 9 * 80 + 5 * 80, __LINE__);
}

/* Is it known before the first output that no sum is rounded? Of 128 tiles of 8 elements, `run`
 * have the sum 8 x, as many follow with -8 x, and so on. */
static bool no_sum_is_rounded(float x, size_t run, unsigned lanes)
{
    enum { TILE = 8, TILES = 128 };
    static struct verifier v;
    float in[TILES * TILE];
    struct problem problem = {.element = ELEMENT_F32, .in = in, .n = TILES * TILE};
    struct tree tree = {.depth = INFINITY};
    for (size_t i = 0; i < problem.n; i++) in[i] = i / TILE / run % 2 ? -x : x;
    tree_add(&tree, (struct tree_level){.sums = SUMS_ANY_ORDER, .length = TILE, .lanes = lanes});
    struct facts facts = facts_of(&problem);
    verify_begin(&v, &problem, &facts, &tree, 0);
    return v.bound.nothing;
}

/* A sum of some tiles may be as far from a sum of neighbours as all tiles that it leaves out. The
 * quantum is x's lowest bit, so here sums up to 2^24 are exact. */
Test(bound, of_exact_sums_in_any_order)
{
    enum { LANES = 32, X = (1 << 16) + 1 };
    cr_expect(no_sum_is_rounded(1, 64, LANES), "sums of all |x|: less than 2^24");
    cr_expect(no_sum_is_rounded(X, 1, 1), "sums of neighbours");
    cr_expect(no_sum_is_rounded(X, 1, LANES - 1), "31 tiles of 8 (2^16 + 1): less than 2^24");
    cr_expect(!no_sum_is_rounded(X, 1, LANES), "32 of them: more");
    cr_expect(!no_sum_is_rounded(X, 32, 1), "nor are all sums of neighbours");
}

/* Sums up to 2^24 quanta are exact. No larger sum is exact. */
Test(bound, of_exact_sums)
{
    struct facts facts = {.finite = true, .exact = true, .magnitude = 0x1p24, .quantum = 1};
    struct tree tree = {.depth = INFINITY};
    static struct bound b;
    long double addends[2] = {0x1p23, 0x1p23}, sums[3] = {0, 0x1p23, 0x1p24};
    tree_halves(&tree, 1, 2);
    facts.greatest = 0x1p23;
    for (int more = 0; more < 2; more++) {
        addends[1] += more, sums[2] += more;
        facts.exact = !more;
        bound_begin(&b, &tree, &facts, ELEMENT_F32);
        cr_expect_eq(b.nothing, !more);
        for (size_t at = 0; at < 2;) {
            size_t count = bound_look(&b, &sums[at], 2 - at);
            bound_pass(&b, &addends[at], &sums[at], count);
            at += count;
        }
        bound_look(&b, &sums[2], 1);
        double bound = bound_of(&b, 2, 0x1p24 + 1);
        cr_expect_eq(bound > 0, more, "%g", bound);
    }
}

/* A segment's own sum may be small where sums in it are large. */
Test(bound, of_sums_that_cancel)
{
    struct facts facts = {.finite = true, .magnitude = 100, .quantum = U, .greatest = 8};
    const double x[] = {8, -8, 8, -8};
    struct tree halves = {.depth = INFINITY}, run = {.depth = INFINITY};
    tree_halves(&halves, 1, 4);
    tree_run(&run, 4, 3);
    halves.joins = run.joins = 0;
    cr_expect_eq(bound_after(&halves, &facts, x, 4, false), 0);
    cr_expect_float_eq(bound_after(&run, &facts, x, 4, false) / U, 3 * 8, 0.01);
}

/* The first sum is rounded. The second is 2^24 and would be exact without the error of the
 * first. */
Test(bound, of_sums_that_inherit_errors)
{
    static const enum sums kinds[] = {SUMS_RUN, SUMS_WINDOW, SUMS_CHAIN, SUMS_CARRY};
    struct facts facts = {.finite = true, .magnitude = 0x1p26, .quantum = 1, .greatest = 0x1p25};
    double x[] = {0x1p24, 3, -3, 0}, pairs[64] = {0};
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct tree tree = {.depth = INFINITY};
        struct tree_level level = {.sums = kinds[i], .length = 2, .additions = 1};
        if (kinds[i] == SUMS_CHAIN) level.length = 1;
        if (kinds[i] == SUMS_CARRY) break;
        tree_add(&tree, level);
        level.length = 4;
        if (kinds[i] != SUMS_CHAIN) tree_add(&tree, level);
        double bound = bound_after(&tree, &facts, x, 4, false);
        /* a chain has one more: 0 is added */
        cr_expect_gt(bound, kinds[i] == SUMS_CHAIN ? 2.9 : 1.9, "kind %d: %g", kinds[i], bound);
    }
    /* 2^24 + 3 in the first segment, -3 in the second. */
    struct tree tree = {.depth = INFINITY};
    tree_halves(&tree, 1, 2);
    tree_add(&tree, (struct tree_level){.sums = SUMS_CARRY, .length = 2, .ways = 32});
    tree.joins = 0;
    pairs[0] = 0x1p24, pairs[1] = 3, pairs[2] = -3;
    double bound = bound_after(&tree, &facts, pairs, 4, false);
    cr_expect_gt(bound, 1.9, "%g", bound);
}

/* Every sum of neighbours is 2^23 or less, but a warp may add up only the positive segments. */
Test(bound, of_segments_between_which_others_are_left_out)
{
    struct facts facts = {
        .finite = true, .exact = true, .magnitude = 0x1p27, .quantum = 1, .greatest = 0x1p23};
    struct tree tree = {.depth = INFINITY};
    double x[16];
    for (size_t i = 0; i < LENGTH(x); i++) x[i] = i % 2 ? -0x1p23 : 0x1p23;
    tree_add(&tree, (struct tree_level){.sums = SUMS_ANY_ORDER, .length = 1, .lanes = 1});
    cr_expect_eq(bound_after(&tree, &facts, x, LENGTH(x), false), 0);
    tree.levels[0].lanes = 32;
    cr_expect_gt(bound_after(&tree, &facts, x, LENGTH(x), false), 1);
    tree.levels[0].sums = SUMS_CARRY;
    tree.levels[0].ways = 32;
    tree.levels[0].far = true;
    cr_expect_gt(bound_after(&tree, &facts, x, LENGTH(x), false), 0);
}

/* Where doubles cannot hold the sums, the rounding of the doubles counts as a part of each
 * magnitude. */
Test(bound, of_more_digits_than_a_double_has)
{
    struct facts facts = {.finite = true, .magnitude = 0x1p60, .quantum = U, .greatest = 0x1p59};
    struct tree tree = {.depth = INFINITY};
    const double x[] = {C, C};
    tree_halves(&tree, 1, 2);
    double with = bound_after(&tree, &facts, x, 2, false);
    facts.magnitude = 2;
    cr_expect_gt(with, 1e4 * bound_after(&tree, &facts, x, 2, false));
}

/* Only the depth is known, or the bound of the tree is wider than that of the depth. */
Test(bound, is_never_more_than_that_of_the_depth)
{
    struct tree tree = {.depth = 3};
    struct facts facts = {.finite = true, .magnitude = 100, .quantum = U, .greatest = C};
    static struct bound b;
    bound_begin(&b, &tree, &facts, ELEMENT_F32);
    cr_expect_float_eq(bound_of(&b, 10, 100) / U, 300, 0.01);
    cr_expect_float_eq(bound_of(&b, 3, 100) / U, 200, 0.01);
    cr_expect_eq(bound_of(&b, 1, 100), 0);
    cr_expect_eq(bound_of(&b, 0, 0), 0);
    tree.depth = 0x1p25; /* d u is 2, but the number of elements bounds it, too */
    bound_begin(&b, &tree, &facts, ELEMENT_F32);
    cr_expect_float_eq(bound_of(&b, 0x1p25 + 1, 100), 200, 0.01);
}

/* An output of one element is that element. An output of no elements is 0. */
Test(bound, of_the_first_two_outputs)
{
    const float x[] = {0.3f, 0.7f, 1e6f, 0.1f}, right[] = {0, 0.3f, 1, 1000001};
    for (int known = 0; known < 2; known++)
        for (size_t i = 0; i < 3; i++) {
            float got[4];
            struct problem p = {.element = ELEMENT_F32, .in = x, .n = 4};
            struct facts facts = facts_of(&p);
            struct tree tree = {.depth = 3};
            static struct verifier v;
            if (known) tree_halves(&tree, 1, 4);
            memcpy(got, right, sizeof got);
            got[i] += i < 2 ? 0x1p-24f : 0x1p-22f;
            verify_begin(&v, &p, &facts, &tree, 0);
            verify_piece(&v, got, 0, 4);
            cr_expect_not(verify_end(&v).right, "known: %d, output %zu", known, i);
        }
}

/* Outputs that are exactly right, although the bound allows an error. */
Test(bound, of_outputs_without_an_error)
{
    const float x[] = {1, -1, 0x1p-30f, 0}, right[] = {0, 1, 0, 0x1p-30f};
    struct problem p = {.element = ELEMENT_F32, .in = x, .n = 4};
    struct facts facts = facts_of(&p);
    struct tree tree = {.depth = 3};
    static struct verifier v;
    tree_halves(&tree, 1, 4);
    verify_begin(&v, &p, &facts, &tree, 0);
    verify_piece(&v, right, 0, 4);
    struct verdict verdict = verify_end(&v);
    cr_expect(verdict.right && !verdict.exact && verdict.bound > 0 && verdict.worst == 0);
    cr_expect_eq(verdict.least, 0x1p-30);
}

/* ---- a chain --------------------------------------------------------------------------------- */

enum { LINKS = 20000 };
static float links[LINKS], chain[LINKS];

/* Real numbers, and their sums one after the other. */
static void make_chain(void)
{
    float sum = 0;
    for (size_t i = 0; i < LINKS; i++) {
        links[i] = (float)(0.75 + sin((double)(i * i)) / 4);
        chain[i] = sum;
        sum += links[i];
    }
}

/* Only the first of every `every` outputs is checked. */
static struct verdict verdict_of_chain(size_t every)
{
    struct problem p = {.element = ELEMENT_F32, .in = links, .n = LINKS};
    struct tree tree = {.depth = LINKS};
    struct facts facts = facts_of(&p);
    static struct verifier v;
    tree_add(&tree, (struct tree_level){.sums = SUMS_CHAIN, .length = 1});
    verify_begin(&v, &p, &facts, &tree, 0);
    for (size_t i = 0; i < LINKS; i += every) verify_piece(&v, &chain[i], i, 1);
    return verify_end(&v);
}

/* The bound is one addition's rounding, of 15000 or less, although errors add up to more. */
Test(bound, of_a_chain_is_about_the_output_before)
{
    make_chain();
    struct verdict v = verdict_of_chain(1);
    cr_expect(v.right, "%zu are wrong, first %zu", v.wrong, v.first[0].index);
    cr_expect(v.worst > 0.9 && v.worst <= 1, "%g", v.worst);
    cr_expect(v.bound > 15000 * U * 0.9 && v.bound < 15000 * U * 1.1, "%g", v.bound);
    v = verdict_of_chain(100);
    cr_expect(v.right);
    cr_expect(v.bound > 100 * 14000 * U && v.bound < 100 * 15000 * U * 1.1, "%g", v.bound);
}

/* Every output that depends on a wrong one is wrong, too. */
Test(bound, of_a_chain_does_not_forgive)
{
    make_chain();
    for (size_t i = 700; i < LINKS; i++) chain[i] -= links[699];
    struct verdict v = verdict_of_chain(1);
    cr_expect_eq(v.wrong, LINKS - 700);
    cr_expect(strstr(v.cause, "element 699 of the input was left out"), "%s", v.cause);
    make_chain();
    chain[700] += 0.5f;
    v = verdict_of_chain(1);
    cr_expect_eq(v.wrong, 1);
    for (size_t i = 0; i < LINKS; i++) chain[i] = i ? chain[i - 1] + links[i - 1] : 0;
    chain[900] = NAN;
    v = verdict_of_chain(1);
    cr_expect_eq(v.wrong, 1);
    make_chain();
    for (size_t i = 700; i < 900; i++) chain[i] = INFINITY;
    v = verdict_of_chain(1);
    cr_expect_eq(v.wrong, 200);
}

/* ---- every step, on inputs of all kinds ------------------------------------------------------ */

static uint64_t random_state;
static uint64_t random_bits(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du;
}

static double random_sign(void) { return random_bits() >> 63 ? -1 : 1; }
static double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

enum kind {
    REALS,     /* of one magnitude */
    GEOMETRIC, /* of magnitudes from 2^-60 to 2^60 */
    POSITIVE,  /* without a sign, so that errors add up */
    EQUAL,     /* all the same */
    BIG_PAIRS, /* large numbers that cancel, and small ones between them */
    DENORMALS, /* below the smallest normal number */
    ONE_HUGE,  /* the others are too small to change the sum */
    ZEROS,     /* 0, -0, and pairs that cancel */
    MINUS_ZEROS,
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
    case EQUAL: return 0.1;
    case BIG_PAIRS:
        if (i % 7 == 0) return pair = ldexp(1 + random_unit(), (int)(random_bits() % 60));
        return i % 7 == 3 ? -pair : random_unit();
    case DENORMALS: return random_sign() * (double)(random_bits() >> 42) * 0x1p-149;
    case ONE_HUGE: return i == n / 3 ? 0x1p40 : 1 + random_unit();
    case ZEROS:
        if (i % 3 == 0) return pair = random_bits() % 3 ? random_unit() : -0.0;
        return i % 3 == 1 ? -pair : random_sign() * 0.0;
    case MINUS_ZEROS: return -0.0;
    case ALTERNATING: return i % 512 ? 0 : (i / 512 % 2 ? -1.0 : 1) * (0x1p22 - (double)(i / 512));
    case WITH_NAN: return i == n / 2 ? NAN : random_sign() * (1 + random_unit());
    case WITH_INFINITIES:
        if (i == n / 2) return INFINITY;
        return i == n - n / 4 ? -INFINITY : random_sign() * (1 + random_unit());
    default: return random_sign() * (1 + random_unit()) / 2;
    }
}

/* Lasts until the next call. */
static const void *numbers(enum element element, enum kind kind, size_t n, uint64_t seed)
{
    static void *data;
    free(data);
    data = malloc(n * sizeof(double));
    cr_assert(data != NULL);
    random_state = seed * 977 + (uint64_t)kind + 1;
    for (size_t i = 0; i < n; i++) element_store_real(element, data, i, number(kind, i, n));
    return data;
}

static bool takes(const struct step *step, size_t n)
{
    if (step->max_n && n > step->max_n) return false;
    return !step->power_of_two || (n & (n - 1)) == 0;
}

/* Calls `see` for every step and variant that adds real numbers. */
typedef void see_fn(const struct step *, int variant, enum element);
static void every_variant(see_fn *see)
{
    for (size_t s = 0; s < SCAN_STEPS; s++)
        for (int variant = 0; variant < variant_count(scan_steps[s]); variant++) {
            enum element element = step_element(scan_steps[s], variant);
            if (element_is_real(element)) see(scan_steps[s], variant, element);
        }
}

static size_t size_seen;

static void see_every_kind(const struct step *step, int variant, enum element element)
{
    if (!takes(step, size_seen)) return;
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (uint64_t seed = 0; seed < (kind <= GEOMETRIC ? 3 : 1); seed++) {
            const void *in = numbers(element, kind, size_seen, seed);
            struct verdict v = expect_right(&(struct scan){step, variant, size_seen, 0, false}, in);
            cr_expect_leq(v.worst, 1);
        }
}

static void every_kind_of(const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_seen = sizes[i];
        every_variant(see_every_kind);
    }
}

Test(bound, holds_for_few_elements_slow)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 16, 31, 64, 128, 500, 512, 513, 1000, 1024};
    every_kind_of(sizes, LENGTH(sizes));
}

Test(bound, holds_for_several_blocks_slow)
{
    static const size_t sizes[] = {2048, 2049, 4095, 8192, 10007};
    every_kind_of(sizes, LENGTH(sizes));
}

Test(bound, holds_for_several_levels_slow)
{
    static const size_t sizes[] = {70001};
    every_kind_of(sizes, LENGTH(sizes));
}

/* ---- one wrong element ----------------------------------------------------------------------- */

struct wrong_output {
    const struct step *step;
    int variant;
    enum element element;
    size_t n;
    const void *in;
    void *right, *out;
    double *reference;
    struct facts facts;
    double bound;
};

/* The verifier's verdict on w->out, from element `first` on. */
static struct verdict verdict_of(const struct wrong_output *w, size_t first)
{
    struct problem p = {.element = w->element, .in = w->in, .n = w->n, .reference = w->reference};
    struct tree tree = step_tree(w->step, w->n, w->variant);
    struct verifier v;
    verify_begin(&v, &p, &w->facts, &tree, 0);
    verify_piece(&v, (char *)w->out + first * element_size(w->element), first, w->n - first);
    return verify_end(&v);
}

/* Runs the step on w->in. */
static void run(struct wrong_output *w)
{
    size_t bytes = w->n * element_size(w->element);
    struct scan scan = {w->step, w->variant, w->n, 0, false};
    w->right = malloc(bytes), w->out = malloc(bytes);
    w->reference = w->step->reference ? malloc(w->n * sizeof *w->reference) : NULL;
    cr_assert(w->right && w->out && (w->reference || !w->step->reference));
    if (w->reference) w->step->reference(w->reference, w->in, w->n, w->variant);
    struct problem p = {.element = w->element, .in = w->in, .n = w->n, .reference = w->reference};
    w->facts = facts_of(&p);
    cr_assert(scan_once(&scan, w->in, w->right) == cudaSuccess);
    memcpy(w->out, w->right, bytes);
}

static void end(struct wrong_output *w)
{
    free(w->right);
    free(w->out);
    free(w->reference);
}

static double at(const struct wrong_output *w, const void *array, size_t i)
{
    return w->element == ELEMENT_F32 ? ((const float *)array)[i] : ((const double *)array)[i];
}

static void add(struct wrong_output *w, size_t first, size_t end, double x)
{
    for (size_t i = first; i < end; i++)
        element_store_real(w->element, w->out, i, at(w, w->out, i) + x);
}

/* The verifier rejects the output; then the output is restored. */
static void expect_wrong(struct wrong_output *w, const char *what, size_t where)
{
    struct verdict v = verdict_of(w, 0);
    cr_expect_not(v.right, "step %d %s, n = %zu: %s at %zu passes", w->step->number,
                  variant_name(w->step, w->variant), w->n, what, where);
    memcpy(w->out, w->right, w->n * element_size(w->element));
}

/* Makes the outputs around element k wrong, in all ways. (Step 1's inclusive variant has element k
 * in output k already; its outputs are as wrong.) */
static void spoil(struct wrong_output *w, size_t k)
{
    size_t n = w->n, block = n / 8, from = k + 1;
    double x = at(w, w->in, k), next = at(w, w->out, k + 1);
    add(w, from, n, -x);
    expect_wrong(w, "an input left out", k);
    element_store_real(w->element, w->out, k + 1, at(w, w->out, k));
    element_store_real(w->element, w->out, k, next);
    expect_wrong(w, "two neighbours swapped", k);
    add(w, from, n, -2 * x);
    expect_wrong(w, "an input with the wrong sign", k);
    add(w, k / block * block, k / block * block + block, 0.3);
    expect_wrong(w, "a block off by 0.3", k);
    add(w, k / block * block, k / block * block + block, x);
    expect_wrong(w, "a block off by an element", k);
    add(w, k, k + 1, 0.25);
    expect_wrong(w, "one output off by 0.25", k);
    add(w, k, k + 1, 2.1 * w->bound);
    expect_wrong(w, "one output off by twice the bound", k);
    add(w, k, k + 1, -2.1 * w->bound);
    expect_wrong(w, "one output off by minus twice the bound", k);
}

/* The first variant of a step is made wrong in several places of a million elements; the others,
 * most of which have the same tree, in one place of fewer elements. */
static void see_wrong_outputs(const struct step *step, int variant, enum element element)
{
    struct wrong_output w = {step, variant, element, .n = variant ? MILLION / 8 : MILLION};
    if (step->max_n) w.n = step->max_n;
    if (step == &step01 && variant > 1) return; /* sums of f are exact */
    w.in = random_input(step, variant, w.n, true);
    run(&w);
    struct verdict v = verdict_of(&w, 0);
    cr_assert(v.right && !v.exact, "step %d: %s", step->number, v.cause);
    cr_expect_lt(2 * v.bound, v.least, "step %d: the bound is %g", step->number, v.bound);
    w.bound = v.bound;
    const size_t places[] = {w.n / 2 - 1, 1, w.n - 2};
    for (size_t i = 0; i < (variant ? 1 : LENGTH(places)); i++) spoil(&w, places[i]);
    add(&w, w.n / 2, w.n, 0.25);
    expect_wrong(&w, "half of all off by 0.25", w.n / 2);
    add(&w, w.n - 1, w.n, 0.25);
    expect_wrong(&w, "the last output off by 0.25", w.n - 1);
    end(&w);
}

Test(bound, one_wrong_element_in_a_million_shows_slow) { every_variant(see_wrong_outputs); }

/* The errors that occurred, as a fraction of the bound, in the second half, where sums have many
 * elements. Numbers without a sign give the largest errors. */
static void see_looseness(const struct step *step, int variant, enum element element)
{
    struct wrong_output w = {step, variant, element, .n = step->max_n ? step->max_n : 100000};
    double worst = 0;
    if (step == &step01 && variant > 1) return;
    for (enum kind kind = REALS; kind <= EQUAL; kind++) {
        w.in = numbers(element, kind, w.n, 1);
        run(&w);
        worst = fmax(worst, verdict_of(&w, w.n / 2).worst);
        end(&w);
    }
    cr_expect_geq(worst, 0.01, "step %d %s: %g of the bound at most", step->number,
                  variant_name(step, variant), worst);
    if (getenv("PRINT_BOUNDS"))
        printf("step %d %s: %.3f\n", step->number, variant_name(step, variant), worst);
}

Test(bound, is_not_loose_slow) { every_variant(see_looseness); }

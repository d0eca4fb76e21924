/* test_lab_table.c — the labs, their launches, their cases and inputs. */
#include "common/tools/labs/lab.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { SEEDS = 40, MOST = 280000 /* elements in any lab */ };

#define EACH_LAB(lab)                                                                              \
    const struct lab *lab = lab_at(0);                                                             \
    for (size_t lab##_index = 0; (lab = lab_at(lab##_index)); lab##_index++)

Test(lab_table, labs_are_found_by_number)
{
    size_t count = 0;
    EACH_LAB(lab)
    {
        char name[LAB_NAME];
        count++;
        cr_expect_eq(lab_named(lab_name(lab, name)), lab);
    }
    cr_expect_eq(count, 9);
    cr_expect_null(lab_named("0"));
    cr_expect_null(lab_named("8"));
    cr_expect_null(lab_named("3x"));
    cr_expect_null(lab_named(" 3"));
    cr_expect_null(lab_named(""));
}

Test(lab_table, an_exercise_is_found_by_name_and_is_no_lab)
{
    const struct lab *exercise = lab_named("exercise4");
    char name[LAB_NAME];
    cr_assert_not_null(exercise);
    cr_expect_neq(exercise, lab_named("4"));
    cr_expect_null(lab_named("exercise3"));
    cr_expect_str_eq(lab_name(exercise, name), "exercise4");
    for (const size_t *n = exercise->sizes; *n; n++) {
        struct lab_plan plan = {0};
        exercise->plan(*n, &plan);
        cr_expect_eq(plan.launches[0].shared_bytes, *n * sizeof(float));
    }
}

static size_t handed_out_count(const struct lab *lab)
{
    size_t count = 0;
    while (lab->sizes[count]) count++;
    return count;
}

Test(lab_table, sizes_handed_out_are_within_limits)
{
    EACH_LAB(lab)
    {
        cr_assert_leq(handed_out_count(lab), LAB_SIZES);
        for (const size_t *n = lab->sizes; *n; n++) {
            cr_expect(*n >= lab->least && *n <= lab->most, "lab %d: %zu", lab->number, *n);
            cr_expect(n == lab->sizes || n[-1] < *n, "lab %d: %zu", lab->number, *n);
            bool is_tree = lab->number == 3 || lab->number == 4; /* which take powers of two */
            cr_expect(!is_tree || !(*n & (*n - 1)), "lab %d: %zu", lab->number, *n);
        }
    }
}

/* The bytes that a launch's arguments may reach in the workspace, at most. */
static void check_launch(const struct lab *lab, const struct lab_plan *plan,
                         const struct lab_launch *l)
{
    cr_expect(l->blocks >= 1 && l->threads >= 1 && l->threads <= 1024, "lab %d", lab->number);
    cr_expect_leq(l->shared_bytes, 48 << 10);
    cr_expect_leq(l->argument_count, LAB_ARGUMENTS);
    for (unsigned i = 0; i < l->argument_count; i++) {
        const struct lab_argument *a = &l->arguments[i];
        if (a->kind == LAB_ADDRESS && a->buffer == LAB_WORKSPACE)
            cr_expect_lt(a->value, plan->workspace, "lab %d", lab->number);
    }
}

Test(lab_table, plans_fit_for_every_size)
{
    EACH_LAB(lab)
    for (size_t n = lab->least; n <= lab->most; n = lab->power_of_two ? 2 * n : n + 1 + n / 7) {
        struct lab_plan plan = {0};
        lab->plan(n, &plan);
        cr_assert(plan.launch_count >= 1 && plan.launch_count <= LAB_LAUNCHES);
        for (unsigned i = 0; i < plan.launch_count; i++)
            check_launch(lab, &plan, &plan.launches[i]);
    }
}

static bool has_size(const struct lab_case *cases, size_t count, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (cases[i].n == n) return true;
    return false;
}

/* A lab of one block has the warp as its edge. */
static size_t full_part(const struct lab *lab) { return lab->block ? lab->block : 32; }

/* No size occurs twice with the usual order, and no two cases have one input. */
static void check_cases(const struct lab *lab, const struct lab_case *cases, size_t count,
                        bool handed_out)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = cases[i].n;
        cr_expect(n >= lab->least && n <= lab->most, "lab %d: %zu", lab->number, n);
        cr_expect(lab_hands_out(lab, n) || !(handed_out || lab->power_of_two), "lab %d: %zu",
                  lab->number, n);
        for (size_t k = 0; k < i; k++) {
            cr_expect_neq(cases[k].input, cases[i].input);
            cr_expect(cases[k].n != n || cases[i].schedule, "lab %d: %zu", lab->number, n);
        }
    }
}

/* Drawn cases hold the edges, and few other sizes that are handed out: a kernel that is right for
 * those only loses most of its points. */
static void check_drawn(const struct lab *lab, const struct lab_case *cases, size_t count)
{
    size_t full = full_part(lab), multiples = 0, known = 0;
    cr_expect(has_size(cases, count, lab->least), "lab %d", lab->number);
    cr_expect(has_size(cases, count, full), "lab %d", lab->number);
    for (size_t i = 0; i < count; i++) {
        multiples += cases[i].n > full && cases[i].n % full == 0;
        known += lab_hands_out(lab, cases[i].n);
    }
    cr_expect_geq(multiples, 1, "lab %d", lab->number);
    cr_expect_leq(4 * known, count, "lab %d: %zu of %zu", lab->number, known, count);
}

Test(lab_cases, are_drawn_as_said)
{
    struct lab_case cases[LAB_CASES];
    EACH_LAB(lab)
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int handed_out = 0; handed_out < 2; handed_out++) {
            size_t count = lab_cases(lab, seed, handed_out, cases);
            cr_assert(count > handed_out_count(lab) && count <= LAB_CASES);
            check_cases(lab, cases, count, handed_out);
            if (!handed_out && !lab->power_of_two) check_drawn(lab, cases, count);
        }
}

/* Between the sizes handed out there is no range that is never drawn. */
Test(lab_cases, are_drawn_between_neighbourhoods)
{
    struct lab_case cases[LAB_CASES];
    size_t between = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        size_t count = lab_cases(lab_named("6"), seed, false, cases);
        for (size_t i = 0; i < count; i++) between += cases[i].n > 6000 && cases[i].n < 8000;
    }
    cr_expect_gt(between, 0);
}

/* A lab in which blocks wait for blocks has a size with more tiles than two warps look at, and runs
 * on a device that is full before the first block has begun. They come last. */
Test(lab_cases, blocks_wait_for_blocks_on_a_small_device)
{
    struct lab_case cases[LAB_CASES];
    EACH_LAB(lab)
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        size_t count = lab_cases(lab, seed, false, cases), small = 0, tiles = 0;
        for (size_t i = 0; i < count; i++) {
            small += cases[i].descending;
            if (lab->block && cases[i].n / lab->block > tiles) tiles = cases[i].n / lab->block;
            if (!cases[i].descending) continue;
            cr_expect(i + 3 >= count && cases[i].schedule);
            cr_expect_gt(cases[i].n, lab->resident * lab->block);
        }
        cr_expect_eq(small, lab->resident ? 3 : 0, "lab %d", lab->number);
        cr_expect(!lab->resident || tiles >= 64, "%zu tiles", tiles);
    }
}

Test(lab_cases, are_the_same_for_one_seed_only)
{
    struct lab_case first[LAB_CASES] = {0}, again[LAB_CASES] = {0}, other[LAB_CASES] = {0};
    size_t count = lab_cases(lab_named("5"), 7, false, first);
    cr_expect_eq(lab_cases(lab_named("5"), 7, false, again), count);
    cr_expect_eq(memcmp(first, again, sizeof first), 0);
    lab_cases(lab_named("5"), 8, false, other);
    cr_expect_neq(memcmp(first, other, sizeof first), 0);
}

/* The sum of all |x| in eighths stays below 2^24, so every order of additions is exact. */
Test(lab_cases, inputs_have_exact_sums)
{
    static float in[MOST];
    cr_assert_leq(lab_named("11")->most, MOST);
    EACH_LAB(lab)
    {
        struct lab_case c = {.n = lab->most, .input = 12345};
        double magnitude = 0, positive = 0;
        lab_input(&c, in);
        for (size_t i = 0; i < c.n; i++) {
            cr_assert(in[i] != 0 && in[i] * 8 == floorf(in[i] * 8));
            magnitude += fabs(in[i]) * 8;
            positive += in[i] > 0;
        }
        cr_expect_lt(magnitude, 0x1p24);
        cr_expect(positive > 0.3 * (double)c.n && positive < 0.7 * (double)c.n);
    }
}

/* The float sum of the elements from `from` to before `to`, in an order that the state gives. */
static float sum_in_some_order(const float *in, size_t from, size_t to, unsigned *state)
{
    if (to - from == 0) return 0;
    if (to - from == 1) return in[from];
    *state = *state * 1664525 + 1013904223;
    size_t middle = from + 1 + (*state >> 8) % (to - from - 1);
    return sum_in_some_order(in, from, middle, state) + sum_in_some_order(in, middle, to, state);
}

/* Every prefix is the same float in every order: the sum of the last elements of one size. */
static void check_bounded(const struct lab_case *c, const float *in)
{
    double sum = 0;
    unsigned state = (unsigned)c->input;
    size_t step = c->n < 3000 ? 1 : c->n < 20000 ? 97 : c->n / 8;
    cr_assert(c->boundary > 0 && c->boundary < c->n);
    for (size_t i = 0; i < c->n; i++) {
        if (i == c->boundary + 1) sum = (double)in[c->boundary];
        if (i % step == 0 || i == c->boundary)
            cr_expect_eq(sum_in_some_order(in, 0, i, &state), (float)sum,
                         "n %zu, boundary %zu, %zu", c->n, c->boundary, i);
        sum += (double)in[i];
    }
}

/* No integer of 64 bits holds the unit of the small elements and a large element. */
Test(lab_cases, sums_across_a_boundary_are_exact_in_floats_only_slow)
{
    static float in[MOST];
    cr_assert_leq(lab_named("11")->most, MOST);
    struct lab_case cases[LAB_CASES];
    EACH_LAB(lab)
    {
        if (lab->result != LAB_SUMS) continue;
        size_t bounded = 0, count = lab_cases(lab, 11, false, cases);
        for (size_t i = 0; i < count; i++) {
            if (cases[i].boundary == 0) continue;
            bounded++;
            lab_input(&cases[i], in);
            check_bounded(&cases[i], in);
            cr_expect_geq(in[cases[i].boundary], 0x1p61f);
        }
        cr_expect(bounded >= 6 && bounded < count, "%zu of %zu", bounded, count);
    }
}

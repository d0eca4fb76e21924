/* test_lab_kept.c — a lab whose result is the elements that are kept, and their number. */
#include "common/labs/score.h"
#include "results_made.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 5, FEWEST = 100 /* kept elements of the cases that tests change */ };

static const struct lab_weights weights = {{30, 10, 40, 20}};
static const struct lab *lab;
static struct lab_results own, reference;
static struct lab_verdict verdict;

static void init(void)
{
    lab = lab_find(13);
    make_results(lab, SEED, false, &own);
    make_results(lab, SEED, false, &reference);
}

static void fini(void)
{
    results_free(&own);
    results_free(&reference);
}

TestSuite(lab_kept, .init = init, .fini = fini);

static double score(void)
{
    cr_assert_eq(score_lab(lab, &own, &reference, &weights, &verdict), 0, "%s", verdict.failure);
    return verdict.points;
}

/* The first case in the usual order that keeps many elements. */
static struct lab_case_result *large(void)
{
    for (size_t i = 0; i < own.case_count; i++)
        if (!own.cases[i].is.schedule && own.cases[i].out[own.cases[i].is.n] > FEWEST)
            return &own.cases[i];
    cr_assert_fail("no case keeps more than %d elements", FEWEST);
    return NULL;
}

static uint32_t *count_of(struct lab_case_result *r) { return &r->out[r->is.n]; }

/* One run is wrong, and a reason has the text. */
static void expect_wrong(const char *text)
{
    bool found = false;
    cr_expect_lt(score(), 100);
    cr_expect_eq(verdict.right_cases, verdict.cases - 1);
    for (size_t i = 0; i < verdict.line_count; i++)
        found |= strstr(verdict.lines[i].text, text) != NULL;
    cr_expect(found, "no line says \"%s\", but the first one \"%s\"", text, verdict.lines[0].text);
}

Test(lab_kept, right_results_have_all_points)
{
    cr_expect_eq(score(), 100);
    cr_expect_eq(verdict.right_cases, own.case_count);
}

Test(lab_kept, a_wrong_element_is_named)
{
    large()->out[7] ^= 0x80000000;
    expect_wrong("kept element 7 of ");
}

Test(lab_kept, an_element_that_was_never_written_is_named)
{
    large()->out[3] = 0xFFFFFFFF;
    expect_wrong("was never written; it should be ");
}

Test(lab_kept, what_was_never_stored_is_named)
{
    large()->out[3] = 0xCDCDCDCD;
    expect_wrong("is a value that was never stored; it should be ");
}

Test(lab_kept, a_number_that_was_never_stored_is_named)
{
    *count_of(large()) = 0xCDCDCDCD;
    expect_wrong("the number of kept elements is a value that was never stored");
}

Test(lab_kept, a_wrong_number_is_named)
{
    ++*count_of(large());
    expect_wrong("the number of kept elements is ");
}

Test(lab_kept, a_number_that_was_never_written_is_named)
{
    *count_of(large()) = 0xFFFFFFFF;
    expect_wrong("the number of kept elements was never written");
}

Test(lab_kept, nothing_is_written_behind_the_last_element)
{
    struct lab_case_result *r = large();
    r->out[*count_of(r)] = 0;
    expect_wrong(" was written, although only ");
}

Test(lab_kept, another_order_is_a_cause)
{
    struct lab_case_result *r = large();
    uint32_t *out = r->out, first = out[0];
    size_t last = *count_of(r) - 1;
    while (out[last] == first) last--;
    out[0] = out[last];
    out[last] = first;
    expect_wrong("the right elements are in another order");
}

Test(lab_kept, places_that_are_one_too_far_are_a_cause)
{
    struct lab_case_result *r = large();
    memmove(&r->out[1], r->out, *count_of(r) * sizeof *r->out);
    r->out[0] = 0xFFFFFFFF;
    expect_wrong("every kept element is one place too far");
}

Test(lab_kept, keeping_everything_is_a_cause)
{
    struct lab_case_result *r = large();
    lab_input(&r->is, (float *)r->out);
    *count_of(r) = (uint32_t)r->is.n;
    expect_wrong("every element is kept, at its own place");
}

/* Stores what a kernel stores that has >= in place of >. */
static void keep_zeros(struct lab_case_result *r)
{
    size_t count = 0;
    float *in = malloc(r->is.n * sizeof *in);
    lab_input(&r->is, in);
    for (size_t i = 0; i < r->is.n; i++)
        if (in[i] >= 0) memcpy(&r->out[count++], &in[i], sizeof *in);
    *count_of(r) = (uint32_t)count;
    free(in);
}

Test(lab_kept, keeping_zeros_is_a_cause)
{
    keep_zeros(large());
    expect_wrong("0 is kept, and is not greater than 0");
}

/* Nothing, all, and few elements are kept in some runs, which are not those whose counters are
 * compared. A kernel that stores the number 0 and nothing else has no size that is right. */
Test(lab_kept, storing_nothing_earns_nothing)
{
    for (size_t i = 0; i < own.case_count; i++) {
        struct lab_case_result *r = &own.cases[i];
        memset(r->out, 0xFF, r->is.n * sizeof *r->out);
        *count_of(r) = 0;
    }
    score();
    cr_expect_gt(verdict.right_cases, 0);
    cr_expect_eq(verdict.fraction[LAB_WORK], 0);
    cr_expect_leq(verdict.points, weights.points[LAB_HAZARDS] * verdict.correctness);
}

static size_t positive(const struct lab_case *c)
{
    size_t count = 0;
    float *in = malloc(c->n * sizeof *in);
    lab_input(c, in);
    for (size_t i = 0; i < c->n; i++) count += in[i] > 0;
    free(in);
    return count;
}

Test(lab_kept, cases_keep_no_few_half_and_all_elements)
{
    size_t runs[LAB_ALL + 1] = {0};
    for (size_t i = 0; i < own.case_count; i++) {
        const struct lab_case *c = &own.cases[i].is;
        size_t count = positive(c);
        cr_assert(c->share >= LAB_HALF && c->share <= LAB_ALL);
        cr_expect(c->schedule || c->share == LAB_HALF);
        runs[c->share]++;
        if (c->share == LAB_NONE) cr_expect_eq(count, 0);
        if (c->share == LAB_ALL) cr_expect_eq(count, c->n);
        if (c->share == LAB_FEW) cr_expect_lt(count, c->n / 32);
        if (c->share == LAB_HALF) cr_expect(count > 0 && (count < c->n || c->n == 1));
        if (c->share == LAB_HALF && c->n > FEWEST)
            cr_expect(4 * count > c->n && 4 * count < 3 * c->n);
    }
    for (int share = LAB_HALF; share <= LAB_ALL; share++) cr_expect_geq(runs[share], 3);
}

static struct lab_operation *operation(struct lab_case_result *r, const char *name)
{
    for (size_t i = 0; i < r->operation_count; i++)
        if (!strcmp(r->operations[i].name, name)) return &r->operations[i];
    cr_assert_fail("no %s", name);
    return NULL;
}

/* Addresses are additions of integers as well. */
Test(lab_kept, twice_as_many_additions_are_free)
{
    struct lab_operation *adds = operation(large(), "add.s32");
    adds->elements *= 2;
    cr_expect_eq(score(), 100);
    adds->elements *= 3;
    cr_expect_lt(score(), 100);
}

/* As many atomic operations as elements leave nothing of the size's points for work. */
Test(lab_kept, places_from_atomic_operations_earn_no_work)
{
    for (size_t i = 0; i < own.case_count; i++)
        make_operation(&own.cases[i], "atom.add.u32", EMU_CLASS_ATOMIC, own.cases[i].is.n);
    score();
    cr_expect_lt(verdict.fraction[LAB_WORK], 0.01);
    cr_expect_eq(verdict.fraction[LAB_SECTORS], 1);
}

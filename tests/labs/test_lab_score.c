/* test_lab_score.c — points: full ones for the reference, fewer for each fault, and why. */
#define _POSIX_C_SOURCE 200809L
#include "common/labs/score.h"
#include "results_made.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct lab_weights weights = {{40, 20, 20, 20}};
static struct lab_results own, reference;
static struct lab_verdict verdict;

static void init(void)
{
    make_results(lab_find(3), 9, false, &own);
    make_results(lab_find(3), 9, false, &reference);
}

static void fini(void)
{
    results_free(&own);
    results_free(&reference);
}

TestSuite(lab_score, .init = init, .fini = fini);

static double score(void)
{
    cr_assert_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), 0, "%s",
                 verdict.failure);
    return verdict.points;
}

/* The last case with the usual order: the largest size. */
static struct lab_case_result *largest(void)
{
    size_t i = own.case_count - 1;
    while (own.cases[i].is.schedule) i--;
    return &own.cases[i];
}

static double lost(void)
{
    double sum = 0;
    for (size_t i = 0; i < verdict.line_count; i++) sum += verdict.lines[i].lost;
    return sum;
}

/* Points and lost points together are all points, and this criterion has a line with the text. */
static void expect_line(enum lab_criterion criterion, const char *text)
{
    bool found = false;
    for (size_t i = 0; i < verdict.line_count; i++)
        found |=
            verdict.lines[i].criterion == criterion && strstr(verdict.lines[i].text, text) != NULL;
    cr_expect(found, "no line of %s says \"%s\"", lab_criterion_name(criterion), text);
    cr_expect_lt(fabs(verdict.points + lost() - verdict.most), 0.05, "%g and %g", verdict.points,
                 lost());
}

Test(lab_score, the_reference_has_all_points)
{
    cr_expect_eq(score(), 100);
    cr_expect_eq(verdict.line_count, 0);
    cr_expect_eq(verdict.size_count, 11);
    cr_expect_eq(verdict.correctness, 1);
}

Test(lab_score, a_wrong_element_costs_its_run)
{
    own.cases[3].out[5] ^= 0x80000000;
    double points = score();
    cr_expect_lt(fabs(points - 100.0 * (own.case_count - 1) / own.case_count), 1e-9);
    cr_expect_not(verdict.sizes[3].right);
    expect_line(LAB_CRITERIA, "element 5 is ");
}

static unsigned lines_of(enum lab_criterion criterion)
{
    unsigned count = 0;
    for (size_t i = 0; i < verdict.line_count; i++)
        count += verdict.lines[i].criterion == criterion;
    return count;
}

/* Its last elements, of which at least two are left, are wrong by different numbers. */
static void spoil(struct lab_case_result *r)
{
    for (size_t i = r->is.n / 2; i < r->is.n; i++) {
        float wrong = 1000.0F + (float)(i * i % 7);
        memcpy(&r->out[i], &wrong, sizeof wrong);
    }
}

Test(lab_score, sizes_that_are_wrong_in_the_same_way_share_a_line)
{
    for (size_t i = 0; i < own.case_count; i++)
        if (own.cases[i].is.n >= 64) spoil(&own.cases[i]);
    score();
    expect_line(LAB_CRITERIA, "n = 64 and 5 more sizes: element 32 is 100");
    cr_expect_eq(lines_of(LAB_CRITERIA), 1);
}

/* An error of a checker at other lines is another reason. */
Test(lab_score, sizes_with_errors_at_other_lines_have_their_own)
{
    for (size_t i = 0; i < own.case_count; i++) {
        if (own.cases[i].is.n < 64) continue;
        spoil(&own.cases[i]);
        make_finding(&own.cases[i], own.cases[i].is.n < 512 ? 17 : 20);
    }
    score();
    cr_expect_eq(lines_of(LAB_CRITERIA), 2);
    expect_line(LAB_CRITERIA, "at line 17 may be the cause");
    expect_line(LAB_CRITERIA, "at line 20 may be the cause");
}

static void make_race(struct lab_case_result *r, size_t i, unsigned line, unsigned other)
{
    r->findings[i].line = line;
    r->findings[i].other_line = other;
}

/* A large size has races at other lines, too, and they come first. */
Test(lab_score, an_error_that_the_smallest_size_has_says_most)
{
    for (size_t i = 0; i < own.case_count; i++) {
        struct lab_case_result *r = &own.cases[i];
        if (r->is.n < 16) continue;
        make_finding(r, 17);
        make_race(r, 0, 30, 31);
        if (r->is.n < 64) continue;
        spoil(r);
        make_finding(r, 17);
        make_race(r, 0, 17, 30);
        make_race(r, 1, 31, 30);
    }
    score();
    cr_expect_eq(lines_of(LAB_CRITERIA), 1);
    expect_line(LAB_CRITERIA, "report between lines 30 and 31 may be the cause");
    cr_expect_eq(verdict.lines[0].line, 31);
}

Test(lab_score, an_error_says_where_its_accesses_are)
{
    struct lab_case_result *r = largest();
    spoil(r);
    make_finding(r, 17);
    make_race(r, 0, 17, 17);
    score();
    expect_line(LAB_CRITERIA, "report between threads at line 17 may be the cause");
    r->findings[0].tool = EMU_CHECK_SYNC;
    score();
    expect_line(LAB_CRITERIA, "report at line 17 may be the cause");
}

/* "all are off by the same" says less than the hazard. */
Test(lab_score, an_error_says_more_than_a_guess_from_numbers)
{
    struct lab_case_result *r = largest();
    while (r->is.boundary) r--;
    for (size_t i = r->is.n / 2; i < r->is.n; i++) {
        float sum;
        memcpy(&sum, &r->out[i], sizeof sum);
        sum += 1000;
        memcpy(&r->out[i], &sum, sizeof sum);
    }
    score();
    expect_line(LAB_CRITERIA, "all are off by the same 1000");
    make_finding(r, 17);
    score();
    expect_line(LAB_CRITERIA, "at line 17 may be the cause");
}

Test(lab_score, texts_that_differ_in_numbers_only)
{
    static const struct {
        const char *a, *b, *end;
        bool same;
    } texts[] = {{"", "", "", true},
                 {"element 5 is -1.5", "element 12 is 3e+20", "", true},
                 {"off by 2, from element 1", "off by 3", "", false},
                 {"element 5 is 1", "element 5 was never written", "", false},
                 {"element 5 is 1", "element 7 is 2 (of 9)", " (", true},
                 {"element 5 is 1", "element 7 is 2 (of 9)", "", false},
                 {"zeros", "zeros 1", "", false},
                 {"a-b 1", "a+b 1", "", false}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_eq(same_but_numbers(texts[i].a, texts[i].b, texts[i].end), texts[i].same,
                     "%s, %s", texts[i].a, texts[i].b);
}

Test(lab_score, places_in_messages_are_short)
{
    static const struct {
        const char *message, *shortened;
    } texts[] = {
        {"a load, at /a dir/at home/lab3.cu:52 (PTX line 79) in kernel k, block (0,0,0)",
         "a load in kernel k, block (0,0,0)"},
        {"a load, at labs/lab3.cu:53 (PTX line 79) in kernel k", "a load, at line 53 in kernel k"},
        {"lane 1 waits in bar.sync at labs/lab3.cu:9 (PTX line 5); it waits, at labs/lab3.cu:52 "
         "(PTX line 6)",
         "lane 1 waits in bar.sync at line 9; it waits"},
        {"a load, at /usr/sm.h:52 (PTX line 7) in k", "a load, at /usr/sm.h:52 in k"},
        {"a load, at (PTX line 7", "a load, at (PTX line 7"},
        {"no place", "no place"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s", texts[i].message);
        shorten_places(text, "lab3.cu", 52);
        cr_expect_str_eq(text, texts[i].shortened);
    }
}

Test(lab_score, nothing_right_is_no_points)
{
    for (size_t i = 0; i < own.case_count; i++)
        memset(own.cases[i].out, 0xFF, own.cases[i].is.n * sizeof(uint32_t));
    cr_expect_eq(score(), 0);
    cr_expect_eq(verdict.line_count, 1);
    expect_line(LAB_CRITERIA, "the output was never written");
}

/* Lab 2's drawn sizes hold edges that students know. Answers for these alone earn nothing, and
 * a wrong size among the others costs its run. */
Test(lab_score, sizes_that_are_handed_out_alone_earn_nothing)
{
    const struct lab *lab = lab_find(2);
    unsigned unseen = 0;
    fini();
    make_results(lab, 9, false, &own);
    make_results(lab, 9, false, &reference);
    cr_assert_eq(score_lab(lab, &own, &reference, &weights, &verdict), 0);
    cr_expect_eq(verdict.points, 100);
    for (size_t i = 0; i < own.case_count; i++) {
        if (lab_hands_out(lab, own.cases[i].is.n)) continue;
        own.cases[i].out[own.cases[i].is.n - 1] ^= 0x80000000;
        cr_assert_eq(score_lab(lab, &own, &reference, &weights, &verdict), 0);
        unseen++;
        cr_expect_lt(fabs(verdict.correctness - 1 + (double)unseen / verdict.unseen), 1e-9);
    }
    cr_expect_eq(unseen, verdict.unseen);
    cr_expect_gt(verdict.right_cases, 0);
    cr_expect_eq(verdict.points, 0);
    expect_line(LAB_CRITERIA, "runs at sizes that are not handed out are right");
}

/* More of anything costs more, without a cliff. */
static void expect_continuous(void (*more)(struct lab_case_result *, double))
{
    double before = score();
    for (double factor = 1.1; factor < 40; factor *= 1.1) {
        more(largest(), 1.1);
        double points = score();
        cr_expect(points <= before + 1e-9, "%g: %g after %g", factor, points, before);
        cr_expect(before - points < 8, "%g: %g after %g", factor, points, before);
        before = points;
    }
    cr_expect_lt(before, 95);
}

static void more_adds(struct lab_case_result *r, double factor)
{
    r->operations[0].elements = (uint64_t)((double)r->operations[0].elements * factor);
}

static void more_add_instructions(struct lab_case_result *r, double factor)
{
    r->operations[0].instructions = (uint64_t)((double)r->operations[0].instructions * factor);
}

static void longer_warps(struct lab_case_result *r, double factor)
{
    r->longest_warps = (uint64_t)((double)r->longest_warps * factor);
}

static void more_others(struct lab_case_result *r, double factor)
{
    r->operations[1].lanes = (uint64_t)((double)r->operations[1].lanes * factor);
}

static void more_wavefronts(struct lab_case_result *r, double factor)
{
    r->total.shared_ld.wavefronts = (uint64_t)((double)r->total.shared_ld.wavefronts * factor);
    r->lines[0].counts = r->total;
}

static void more_sectors(struct lab_case_result *r, double factor)
{
    r->total.global_ld.sectors = (uint64_t)((double)r->total.global_ld.sectors * factor);
    r->lines[0].counts = r->total;
}

Test(lab_score, additions)
{
    expect_continuous(more_adds);
    expect_line(LAB_WORK, "additions, where the step's solution makes 2047");
}

/* A few more of anything cost nothing at a size of two elements. */
Test(lab_score, tiny_sizes_have_some_slack)
{
    cr_assert_eq(own.cases[0].is.n, 2);
    own.cases[0].operations[0].elements += 2;
    own.cases[0].total.shared_ld.wavefronts += 4;
    cr_expect_eq(score(), 100);
}

Test(lab_score, additions_one_after_the_other)
{
    expect_continuous(more_add_instructions);
    expect_line(LAB_WORK, "too few lanes add at a time");
}

Test(lab_score, one_warp_does_what_many_could)
{
    expect_continuous(longer_warps);
    expect_line(LAB_WORK, "one warp or one block does what others could");
}

/* Up to 32 times the solution's longest warps, only points for work are lost. */
Test(lab_score, where_one_warp_does_nearly_all_nothing_else_has_merit)
{
    longer_warps(largest(), 20);
    score();
    cr_expect_eq(verdict.fraction[LAB_SECTORS], 1);
    longer_warps(largest(), 20);
    score();
    cr_expect_lt(verdict.fraction[LAB_SECTORS], 0.95);
    cr_expect_lt(verdict.fraction[LAB_CONFLICTS], 0.95);
    expect_line(LAB_HAZARDS, "there is no merit in having no hazards");
}

Test(lab_score, other_instructions)
{
    expect_continuous(more_others);
    expect_line(LAB_WORK, "instructions of lanes besides the additions");
}

/* Lab 7 is about these instructions: half as many more cost half of the points for work, and the
 * reason says what saves them. A tenth more is free. */
Test(lab_score, a_lab_may_leave_fewer_other_instructions_free)
{
    fini();
    make_results(lab_find(7), 9, false, &own);
    make_results(lab_find(7), 9, false, &reference);
    for (size_t i = 0; i < own.case_count; i++) more_others(&own.cases[i], 1.1);
    cr_assert_eq(score_lab(lab_find(7), &own, &reference, &weights, &verdict), 0);
    cr_expect_eq(verdict.points, 100);
    for (size_t i = 0; i < own.case_count; i++) more_others(&own.cases[i], 1.35);
    cr_assert_eq(score_lab(lab_find(7), &own, &reference, &weights, &verdict), 0);
    cr_expect(verdict.fraction[LAB_WORK] > 0.25 && verdict.fraction[LAB_WORK] < 0.5, "%g",
              verdict.fraction[LAB_WORK]);
    expect_line(LAB_WORK, "up to 1.1 times as many lose no points");
    expect_line(LAB_WORK, "Unrolled loops do not count, compare, multiply and jump");
}

Test(lab_score, conflicts)
{
    expect_continuous(more_wavefronts);
    expect_line(LAB_CONFLICTS, "bank conflicts, where");
    cr_expect_eq(verdict.lines[0].line, 42);
    cr_expect_str_eq(verdict.lines[0].file, "lab3.cu");
}

Test(lab_score, sectors)
{
    expect_continuous(more_sectors);
    expect_line(LAB_SECTORS, "sectors of 32 bytes");
}

/* Every way to add that is not the lab's is named, and earns no points for work. */
Test(lab_score, hidden_additions)
{
    static const struct {
        const char *name;
        enum emu_class work_class;
    } hidden[] = {
        {"fma.f32", EMU_CLASS_F32},
        {"add.f64", EMU_CLASS_F64},
        {"add.f16x2", EMU_CLASS_F16},
        {"mul.f32", EMU_CLASS_F32},
        {"dp4a.s32.s32", EMU_CLASS_INTEGER},
        {"sad.s32", EMU_CLASS_INTEGER},
        {"popc.b32", EMU_CLASS_INTEGER},
        {"cvt.rzi.s32.f32", EMU_CLASS_CONVERT},
        {"atom.global.add.f32", EMU_CLASS_ATOMIC},
        {"red.shared.add.f32", EMU_CLASS_ATOMIC},
        {"redux.add.s32", EMU_CLASS_WARP},
        {"mma.m16n8k8.f32", EMU_CLASS_MATRIX},
        {"cp.reduce.bulk.add.f32", EMU_CLASS_COPY},
    };
    for (size_t h = 0; h < sizeof hidden / sizeof *hidden; h++) {
        fini();
        init();
        for (size_t i = 0; i < own.case_count; i++) {
            own.cases[i].operation_count = 0;
            make_operation(&own.cases[i], hidden[h].name, hidden[h].work_class, own.cases[i].is.n);
        }
        cr_expect_eq(score(), 60, "%s: %g", hidden[h].name, verdict.points);
        expect_line(LAB_WORK, hidden[h].name);
        expect_line(LAB_WORK, "this lab expects add.f32");
    }
}

/* Integer atomics are free up to twice those of the solution, and a few more. */
/* A bulk copy by one lane. */
static void make_bulk(const char *name, unsigned times)
{
    for (size_t i = 0; i < own.case_count; i++) {
        struct lab_case_result *r = &own.cases[i];
        make_operation(r, name, EMU_CLASS_COPY, 1);
        r->operations[r->operation_count - 1].elements = times * r->is.n * sizeof(float);
    }
}

/* Bulk copies are in no counter of sectors. */
Test(lab_score, sectors_of_bulk_copies)
{
    static const char *const free_ones[] = {"cp.async.bulk.shared::cluster.shared::cta",
                                            "cp.async.bulk.prefetch.L2.global"},
                             *const copies[] = {"cp.async.bulk.shared::cluster.global",
                                                "cp.async.bulk.global.shared::cta"};
    for (size_t k = 0; k < 2; k++) make_bulk(free_ones[k], 16);
    score();
    cr_expect_eq(verdict.fraction[LAB_SECTORS], 1);
    for (size_t k = 0; k < 2; k++) {
        double before = verdict.fraction[LAB_SECTORS];
        make_bulk(copies[k], 16);
        score();
        cr_expect_lt(verdict.fraction[LAB_SECTORS], before, "%s", copies[k]);
        expect_line(LAB_SECTORS, "sectors of 32 bytes are moved");
    }
}

Test(lab_score, borrowed_operations)
{
    for (size_t i = 0; i < own.case_count; i++) {
        size_t n = own.cases[i].is.n;
        make_operation(&reference.cases[i], "atom.global.add.u32", EMU_CLASS_ATOMIC, n / 64 + 1);
        make_operation(&own.cases[i], "atom.global.exch.b32", EMU_CLASS_ATOMIC, n / 32 + 4);
    }
    cr_expect_eq(score(), 100);
    for (size_t i = 0; i < own.case_count; i++)
        make_operation(&own.cases[i], "atom.shared.add.u64", EMU_CLASS_ATOMIC, own.cases[i].is.n);
    cr_expect_lt(score(), 65);
    expect_line(LAB_WORK, "atom.shared.add.u64");
}

/* More different operations than a stream holds: what is not listed may be anything. */
Test(lab_score, operations_that_are_not_listed)
{
    for (size_t i = 0; i < own.case_count; i++) own.cases[i].dropped = own.cases[i].is.n;
    cr_expect_eq(score(), 60);
    expect_line(LAB_WORK, "too many different operations");
}

/* One thread that does all has no hazards, and that is no merit. */
Test(lab_score, no_hazards_without_parallelism)
{
    for (size_t i = 0; i < own.case_count; i++)
        own.cases[i].operations[0].instructions = own.cases[i].operations[0].elements;
    cr_expect_lt(score(), 50);
    cr_expect_lt(verdict.fraction[LAB_HAZARDS], 0.2);
    expect_line(LAB_HAZARDS, "no merit in having no hazards");
}

/* And if it adds in integers, it has few lanes and many warp instructions. */
Test(lab_score, one_thread_that_adds_in_integers)
{
    for (size_t i = 0; i < own.case_count; i++)
        own.cases[i].operations[1].instructions = 16 * own.cases[i].is.n;
    cr_expect_lt(score(), 15);
    expect_line(LAB_WORK, "warp instructions besides the additions");
    expect_line(LAB_CONFLICTS, "no merit in having no conflicts");
    expect_line(LAB_SECTORS, "no merit in moving few sectors");
    expect_line(LAB_HAZARDS, "no merit in having no hazards");
}

/* Other instructions in as many lanes at a time cost work, and nothing else. */
Test(lab_score, more_instructions_are_not_less_parallel)
{
    for (size_t i = 0; i < own.case_count; i++) {
        own.cases[i].operations[1].lanes *= 10;
        own.cases[i].operations[1].instructions *= 10;
    }
    cr_expect_gt(score(), 60);
    cr_expect_eq(verdict.fraction[LAB_HAZARDS], 1);
    expect_line(LAB_WORK, "instructions of lanes besides the additions");
}

/* More additions in as many lanes at a time are more work, and not less parallel. */
Test(lab_score, more_additions_are_not_less_parallel)
{
    for (size_t i = 0; i < own.case_count; i++) {
        own.cases[i].operations[0].elements *= 10;
        own.cases[i].operations[0].instructions *= 10;
    }
    cr_expect_gt(score(), 60);
    cr_expect_eq(verdict.fraction[LAB_HAZARDS], 1);
    cr_expect_eq(verdict.line_count, 1);
}

/* Shuffles in place of shared memory, beside wavefronts that nothing needs. */
Test(lab_score, shuffles_have_no_conflicts_to_avoid)
{
    for (size_t i = 0; i < own.case_count; i++)
        make_operation(&own.cases[i], "shfl.up.b32", EMU_CLASS_WARP, 16 * own.cases[i].is.n);
    score();
    cr_expect_lt(verdict.fraction[LAB_CONFLICTS], 0.5);
    expect_line(LAB_CONFLICTS, "shuffles, where the step's solution has none");
    for (size_t i = 0; i < own.case_count; i++)
        make_operation(&reference.cases[i], "shfl.down.b32", EMU_CLASS_WARP, 1);
    score();
    cr_expect_eq(verdict.fraction[LAB_CONFLICTS], 1);
}

/* A report says that there were lines, and they cost nothing. A check shows the lines. */
Test(lab_score, printed_lines_are_noted)
{
    own.cases[1].printed = 5, own.cases[3].printed = 2;
    cr_expect_eq(score(), 100);
    cr_assert_eq(verdict.line_count, 1);
    expect_line(LAB_CRITERIA, "The kernels have printed 7 lines in all runs; `make check3` shows");
    fini();
    make_results(lab_find(3), 9, true, &own);
    make_results(lab_find(3), 9, true, &reference);
    own.cases[1].printed = 5;
    cr_expect_eq(score(), 100);
    cr_expect_eq(verdict.line_count, 0);
}

/* Without any addition that is seen, integers must have added. */
Test(lab_score, too_few_additions)
{
    for (size_t i = 0; i < own.case_count; i++) own.cases[i].operations[0].elements = 0;
    cr_expect_lt(score(), 62);
    expect_line(LAB_WORK, "too few for these results");
}

Test(lab_score, no_conflicts_without_shared_memory)
{
    for (size_t i = 0; i < own.case_count; i++)
        own.cases[i].total.shared_ld = (struct emu_shared){0};
    cr_expect_eq(score(), 80);
    expect_line(LAB_CONFLICTS, "no merit");
}

/* Fewer wavefronts than the solution's are no fault if they are as many as it would need without
 * conflicts. */
Test(lab_score, a_solution_with_conflicts_is_beaten)
{
    for (size_t i = 0; i < reference.case_count; i++)
        reference.cases[i].total.shared_ld.wavefronts *= 4;
    cr_expect_eq(score(), 100);
}

Test(lab_score, hazards)
{
    make_finding(&own.cases[own.case_count - 1], 17);
    double one = score();
    cr_expect(one < 100 && one > 98, "%g", one);
    expect_line(LAB_HAZARDS, "racecheck: a hazard (read-after-write)");
    cr_expect_eq(verdict.lines[0].line, 17);
    own.cases[own.case_count - 1].findings[0].other_line = 17;
    score();
    expect_line(LAB_HAZARDS, "(read-after-write) between threads at this line; the checkers");
    own.cases[own.case_count - 1].findings[0].other_line = 20;
    score();
    expect_line(LAB_HAZARDS, "(read-after-write) between this line and line 20; the checkers");
    own.cases[own.case_count - 1].findings[0].tool = EMU_CHECK_SYNC;
    score();
    expect_line(LAB_HAZARDS, "(read-after-write); other threads are at line 20; the checkers");
    for (size_t i = 0; i + 1 < own.case_count; i++) make_finding(&own.cases[i], 17);
    cr_expect_eq(score(), 80);
}

Test(lab_score, warnings_cost_half)
{
    for (size_t i = 0; i < own.case_count; i++) {
        make_finding(&own.cases[i], 17);
        own.cases[i].findings[0].severity = EMU_FINDING_WARNING;
        own.cases[i].errors = 0, own.cases[i].warnings = 1;
    }
    cr_expect_eq(score(), 90);
    expect_line(LAB_HAZARDS, "a hazard");
}

static void end_case(struct lab_case_result *r, enum lab_end end, const char *message)
{
    free(r->out);
    r->out = NULL;
    r->end = end;
    strcpy(r->message, message);
}

Test(lab_score, a_fault_is_explained)
{
    end_case(&own.cases[2], LAB_FAULT, "a load is out of bounds");
    cr_expect_lt(score(), 100);
    expect_line(LAB_CRITERIA, "n = 8: a load is out of bounds");
}

/* The checkers' line would say the same as that of the fault, unless points are lost there, too. */
Test(lab_score, a_kernel_that_was_stopped_is_explained_once)
{
    for (size_t i = 0; i < own.case_count; i++) {
        end_case(&own.cases[i], LAB_INSTRUCTIONS, "too many instructions");
        make_finding(&own.cases[i], 0);
        strcpy(own.cases[i].findings[0].kind, "endless");
    }
    cr_expect_eq(score(), 0);
    cr_expect_eq(verdict.line_count, 1);
    fini();
    init();
    end_case(&own.cases[0], LAB_INSTRUCTIONS, "too many instructions");
    make_finding(&own.cases[0], 0);
    strcpy(own.cases[0].findings[0].kind, "endless");
    score();
    expect_line(LAB_HAZARDS, "n = 2: a kernel was stopped, as said above");
}

/* A stream that ends early: its missing cases are wrong. */
Test(lab_score, missing_cases_are_wrong)
{
    size_t count = own.case_count;
    own.case_count = 4;
    double points = score();
    cr_expect_lt(fabs(verdict.correctness - 4.0 / count), 1e-9);
    cr_expect_lt(points, 40);
    own.case_count = count;
}

Test(lab_score, seconds_are_the_machines_fault)
{
    end_case(&own.cases[2], LAB_SECONDS, "its grid has run for 60 seconds");
    cr_expect_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), -1);
    cr_expect_eq(verdict.status, VERDICT_UNJUDGED);
    cr_expect_str_eq(verdict.failure, "its grid has run for 60 seconds");
}

/* Results of another seed, of another lab, of other cases, and a broken reference. */
Test(lab_score, results_that_do_not_belong)
{
    own.seed++;
    cr_expect_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), -1);
    own.seed--, own.lab = 4;
    cr_expect_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), -1);
    own.lab = 3, own.cases[1].is.input++;
    cr_expect_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), -1);
    own.cases[1].is.input--, reference.complete = false;
    cr_expect_eq(score_lab(lab_find(3), &own, &reference, &weights, &verdict), -1);
    cr_expect_eq(verdict.status, VERDICT_UNJUDGED);
    reference.complete = true;
    cr_expect_eq(score(), 100);
}

/* Claims of a submission do not reach a terminal as they are. */
Test(lab_score, claims_are_made_visible)
{
    char text[4000] = "";
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    make_finding(&own.cases[0], 17);
    strcpy(own.cases[0].findings[0].file, "a\x1b[2J.cu");
    strcpy(own.cases[0].findings[0].text, "\x1b]0;title");
    score();
    lab_verdict_text(file, &verdict, "labs/lab3.cu");
    fclose(file);
    cr_expect(strstr(text, "a\\x1b[2J.cu:17"), "%s", text);
    cr_expect_null(strchr(text, 0x1b));
}

static int weights_of(const char *text, int lab, struct lab_weights *w, char *why)
{
    char path[] = "/tmp/lab-weights-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fputs(text, file);
    fclose(file);
    int code = lab_weights_read(path, lab_find(lab), w, why, 300);
    remove(path);
    return code;
}

Test(lab_weights, a_labs_own_come_first)
{
    struct lab_weights w;
    char why[300];
    cr_assert_eq(weights_of("lab4.work 7 # own\nwork 1\nsectors 2\n\nlab3.work 9\n", 4, &w, why),
                 0);
    cr_expect_eq(w.points[LAB_WORK], 7);
    cr_expect_eq(w.points[LAB_SECTORS], 2);
    cr_expect_eq(w.points[LAB_HAZARDS], 0);
}

Test(lab_weights, wrong_lines_are_named)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"work\n", "Line 1 of "},
        {"work 1\nspeed 3\n", "names none of work, conflicts, sectors and hazards"},
        {"work -1\n", "not a number from 0 to 1000"},
        {"work nan\n", "not a number from 0 to 1000"},
        {"lab.work 1\n", "names no lab"},
        {"lab4.work 1\nlab3.work 1\nwork 1\nlab4.work 2\n", "Line 4 of "},
        {"work 1\nwork 1\n", "gives a weight for a second time"},
        {"work 1 2\n", "no criterion with its points"},
        {"lab3.work 1\n", "gives no points to lab 4"},
        {"", "gives no points to lab 4"},
    };
    struct lab_weights w;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char why[300] = "";
        cr_expect_eq(weights_of(wrong[i].text, 4, &w, why), -1, "%s", wrong[i].text);
        cr_expect(strstr(why, wrong[i].why), "%s: %s", wrong[i].text, why);
    }
}

Test(lab_weights, the_default_is_100_points_for_each_lab)
{
    struct lab_weights w;
    char why[300];
    for (size_t i = 0; lab_at(i); i++) {
        double sum = 0;
        cr_assert_eq(lab_weights_read("common/labs/weights.txt", lab_at(i), &w, why, sizeof why),
                     0);
        for (int c = 0; c < LAB_CRITERIA; c++) sum += w.points[c];
        cr_expect_eq(sum, 100, "lab %d", lab_at(i)->number);
    }
}

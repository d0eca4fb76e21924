/*
 * test_lab_score.c — points: full ones for the reference, fewer for each fault, and why; the stream
 * of results: what was written is read, and other bytes are refused without harm.
 */
#define _GNU_SOURCE /* memmem */
#include "common/tools/labs/results.h"
#include "common/tools/labs/score.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- results as run-lab would write them, made without running anything ---------------------- */

enum { WARP = 32, SECTOR_FLOATS = 8, LINE = 42 };

/* The exclusive scan of a case's input, as the words of the output. */
static uint32_t *scan_of(const struct lab_case *c)
{
    float *in = malloc(c->n * sizeof *in), sum = 0;
    uint32_t *out = malloc(c->n * sizeof *out);
    lab_input(c, in);
    for (size_t i = 0; i < c->n; i++) {
        memcpy(&out[i], &sum, sizeof sum);
        sum += in[i];
    }
    free(in);
    return out;
}

/* The elements greater than 0, and their number as word n. Nothing is written between them. */
static uint32_t *kept_of(const struct lab_case *c)
{
    float *in = malloc(c->n * sizeof *in);
    uint32_t *out = malloc(lab_output_words(c) * sizeof *out), count = 0;
    lab_input(c, in);
    memset(out, 0xFF, c->n * sizeof *out);
    for (size_t i = 0; i < c->n; i++)
        if (in[i] > 0) memcpy(&out[count++], &in[i], sizeof *in);
    out[c->n] = count;
    free(in);
    return out;
}

/* Adds an operation, or a finding at a line, to a case. */
static void make_operation(struct lab_case_result *r, const char *name, enum emu_class work_class,
                           uint64_t elements)
{
    r->operations = realloc(r->operations, (r->operation_count + 1) * sizeof *r->operations);
    struct lab_operation *o = &r->operations[r->operation_count++];
    memset(o, 0, sizeof *o);
    strcpy(o->name, name);
    o->work_class = work_class;
    o->lanes = o->elements = elements;
    o->instructions = (elements + WARP - 1) / WARP;
    r->total.instructions += o->instructions;
    r->total.lanes += o->lanes;
}

static void make_finding(struct lab_case_result *r, unsigned line)
{
    r->findings = realloc(r->findings, (r->finding_count + 1) * sizeof *r->findings);
    struct lab_finding *f = &r->findings[r->finding_count++];
    memset(f, 0, sizeof *f);
    f->tool = EMU_CHECK_RACE;
    f->severity = EMU_FINDING_ERROR;
    f->line = line;
    f->count = 1;
    strcpy(f->kind, "read-after-write");
    strcpy(f->file, "lab3.cu");
    strcpy(f->text, "a hazard");
    r->errors++;
}

static void make_counters(const struct lab *lab, struct lab_case_result *r)
{
    size_t n = r->is.n;
    r->total.shared_ld = (struct emu_shared){.instructions = n, .wavefronts = n, .ideal = n};
    r->total.global_ld.sectors = n / SECTOR_FLOATS + 1;
    make_operation(r, lab->expected[0], lab->adds_integers ? EMU_CLASS_INTEGER : EMU_CLASS_F32,
                   n - 1);
    make_operation(r, "ld.f32", EMU_CLASS_LOAD, n);
    r->longest_warps = n;
    r->lines = calloc(1, sizeof *r->lines);
    r->line_count = 1;
    strcpy(r->lines->kernel, "scan_block");
    strcpy(r->lines->file, "lab3.cu");
    r->lines->line = LINE;
    r->lines->counts = r->total;
}

/* The results of a right solution on all cases: n - 1 additions (of floats or integers) by full
 * warps, n / 8 sectors, n wavefronts, and as many other instructions of lanes. results_free gives
 * their memory back. */
static void make_results(const struct lab *lab, uint64_t seed, bool handed_out,
                         struct lab_results *r)
{
    struct lab_case cases[LAB_CASES];
    memset(r, 0, sizeof *r);
    r->lab = lab->number;
    r->seed = seed;
    r->handed_out = handed_out;
    r->complete = true;
    r->case_count = lab_cases(lab, seed, handed_out, cases);
    for (size_t i = 0; i < r->case_count; i++) {
        r->cases[i].is = cases[i];
        r->cases[i].out = cases[i].share ? kept_of(&cases[i]) : scan_of(&cases[i]);
        make_counters(lab, &r->cases[i]);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

static const struct lab_weights weights = {{40, 20, 20, 20}};
static struct lab_results own, reference;
static struct lab_verdict verdict;

static void init(void)
{
    make_results(lab_named("3"), 9, false, &own);
    make_results(lab_named("3"), 9, false, &reference);
}

static void fini(void)
{
    results_free(&own);
    results_free(&reference);
}

TestSuite(lab_score, .init = init, .fini = fini);

static double score(void)
{
    cr_assert_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), 0, "%s",
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
    expect_line(LAB_CRITERIA, "n = 64 (similarly 5 more sizes): element 32 is 100");
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

/* Lab 2's drawn sizes hold edges that students know. Answers for these alone earn nothing, and
 * a wrong size among the others costs its run. */
Test(lab_score, sizes_that_are_handed_out_alone_earn_nothing)
{
    const struct lab *lab = lab_named("2");
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

typedef struct lab_case_result result;

static void grow(uint64_t *count, double by) { *count = (uint64_t)((double)*count * by); }
static void more_adds(result *r, double by) { grow(&r->operations[0].elements, by); }
static void more_add_instructions(result *r, double by)
{
    grow(&r->operations[0].instructions, by);
}
static void longer_warps(result *r, double by) { grow(&r->longest_warps, by); }
static void more_others(result *r, double by) { grow(&r->operations[1].lanes, by); }
static void more_wavefronts(result *r, double by)
{
    grow(&r->total.shared_ld.wavefronts, by);
    r->lines[0].counts = r->total;
}
static void more_sectors(result *r, double by)
{
    grow(&r->total.global_ld.sectors, by);
    r->lines[0].counts = r->total;
}

Test(lab_score, more_of_anything_costs_more)
{
    static const struct {
        void (*more)(struct lab_case_result *, double);
        enum lab_criterion criterion;
        const char *text;
    } rows[] = {
        {more_adds, LAB_WORK, "additions, where the step's solution makes 2047"},
        {more_add_instructions, LAB_WORK, "too few lanes add at a time"},
        {longer_warps, LAB_WORK, "one warp or one block does what others could"},
        {more_others, LAB_WORK, "instructions of lanes besides the additions"},
        {more_sectors, LAB_SECTORS, "sectors of 32 bytes"},
        {more_wavefronts, LAB_CONFLICTS, "bank conflicts, where"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fini();
        init();
        expect_continuous(rows[i].more);
        expect_line(rows[i].criterion, rows[i].text);
    }
    cr_expect_eq(verdict.lines[0].line, 42);
    cr_expect_str_eq(verdict.lines[0].file, "lab3.cu");
}

/* A few more of anything cost nothing at a size of two elements. */
Test(lab_score, tiny_sizes_have_some_slack)
{
    cr_assert_eq(own.cases[0].is.n, 2);
    own.cases[0].operations[0].elements += 2;
    own.cases[0].total.shared_ld.wavefronts += 4;
    cr_expect_eq(score(), 100);
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

/* Lab 7 is about these instructions: half as many more cost half of the points for work, and the
 * reason says what saves them. A tenth more is free. */
Test(lab_score, a_lab_may_leave_fewer_other_instructions_free)
{
    fini();
    make_results(lab_named("7"), 9, false, &own);
    make_results(lab_named("7"), 9, false, &reference);
    for (size_t i = 0; i < own.case_count; i++) more_others(&own.cases[i], 1.1);
    cr_assert_eq(score_lab(lab_named("7"), &own, &reference, &weights, &verdict), 0);
    cr_expect_eq(verdict.points, 100);
    for (size_t i = 0; i < own.case_count; i++) more_others(&own.cases[i], 1.35);
    cr_assert_eq(score_lab(lab_named("7"), &own, &reference, &weights, &verdict), 0);
    cr_expect(verdict.fraction[LAB_WORK] > 0.25 && verdict.fraction[LAB_WORK] < 0.5, "%g",
              verdict.fraction[LAB_WORK]);
    expect_line(LAB_WORK, "up to 1.1 times as many lose no points");
    expect_line(LAB_WORK, "Unrolled loops do not count, compare, multiply and jump");
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

/* Integer atomics are free up to twice those of the solution, and a few more. */
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
static void drop(result *r) { r->dropped = r->is.n; }
/* Without any addition that is seen, integers must have added. */
static void add_nothing(result *r) { r->operations[0].elements = 0; }
static void spare_shared(result *r) { r->total.shared_ld = (struct emu_shared){0}; }
static void write_nothing(result *r) { memset(r->out, 0xFF, r->is.n * sizeof *r->out); }
/* One thread does all. */
static void add_alone(result *r) { r->operations[0].instructions = r->operations[0].elements; }
static void work_alone(result *r) { r->operations[1].instructions = 16 * r->is.n; }
/* In as many lanes at a time as before. */
static void add_more(result *r)
{
    r->operations[0].elements *= 10;
    r->operations[0].instructions *= 10;
}
static void work_more(result *r)
{
    r->operations[1].lanes *= 10;
    r->operations[1].instructions *= 10;
}
static void warn(result *r)
{
    make_finding(r, 17);
    r->findings[0].severity = EMU_FINDING_WARNING;
    r->errors = 0, r->warnings = 1;
}

#define NO_MERIT                                                                                   \
    [LAB_CONFLICTS] = "no merit in having no conflicts",                                           \
    [LAB_SECTORS] = "no merit in moving few sectors",                                              \
    [LAB_HAZARDS] = "no merit in having no hazards"

/* A fault of all cases, the points that it leaves, and all that is said of it. What one thread does
 * has no hazards, no conflicts and few sectors, and that is no merit. */
Test(lab_score, faults_of_all_cases)
{
    static const struct {
        void (*spoil)(result *);
        double least, most;
        const char *says[LAB_CRITERIA + 1];
    } rows[] = {
        {drop, 60, 60, {[LAB_WORK] = "too many different operations"}},
        {add_nothing, 0, 62, {[LAB_WORK] = "too few for these results"}},
        {spare_shared, 80, 80, {[LAB_CONFLICTS] = "no merit"}},
        {write_nothing, 0, 0, {[LAB_CRITERIA] = "the output was never written"}},
        {add_alone, 0, 50, {[LAB_WORK] = "too few lanes add at a time", NO_MERIT}},
        {work_alone, 0, 15, {[LAB_WORK] = "warp instructions besides the additions", NO_MERIT}},
        {add_more, 60, 99, {[LAB_WORK] = "additions, where the step's solution makes"}},
        {work_more, 60, 99, {[LAB_WORK] = "instructions of lanes besides the additions"}},
        {warn, 90, 90, {[LAB_HAZARDS] = "a hazard"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fini();
        init();
        for (size_t k = 0; k < own.case_count; k++) rows[i].spoil(&own.cases[k]);
        cr_expect(score() >= rows[i].least && verdict.points <= rows[i].most, "row %zu: %g", i,
                  verdict.points);
        for (int c = 0; c <= LAB_CRITERIA; c++)
            if (rows[i].says[c])
                expect_line(c, rows[i].says[c]);
            else
                cr_expect_eq(lines_of(c), 0, "row %zu: a line of criterion %d", i, c);
    }
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
    make_results(lab_named("3"), 9, true, &own);
    make_results(lab_named("3"), 9, true, &reference);
    own.cases[1].printed = 5;
    cr_expect_eq(score(), 100);
    cr_expect_eq(verdict.line_count, 0);
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
    cr_expect_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), -1);
    cr_expect_eq(verdict.status, VERDICT_UNJUDGED);
    cr_expect_str_eq(verdict.failure, "its grid has run for 60 seconds");
}

/* Results of another seed, of another lab, of other cases, and a broken reference. */
Test(lab_score, results_that_do_not_belong)
{
    own.seed++;
    cr_expect_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), -1);
    own.seed--, own.lab = 4;
    cr_expect_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), -1);
    own.lab = 3, own.cases[1].is.input++;
    cr_expect_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), -1);
    own.cases[1].is.input--, reference.complete = false;
    cr_expect_eq(score_lab(lab_named("3"), &own, &reference, &weights, &verdict), -1);
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

static int weights_of(const char *text, struct lab_weights *w, char *why)
{
    char path[] = "/tmp/lab-weights-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fputs(text, file);
    fclose(file);
    int code = lab_weights_read(path, lab_named("4"), w, why, 300);
    remove(path);
    return code;
}

Test(lab_weights, a_labs_own_come_first)
{
    struct lab_weights w;
    char why[300];
    cr_assert_eq(weights_of("lab4.work 7 # own\nwork 1\nsectors 2\n\nlab3.work 9\n", &w, why), 0);
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
        cr_expect_eq(weights_of(wrong[i].text, &w, why), -1, "%s", wrong[i].text);
        cr_expect(strstr(why, wrong[i].why), "%s: %s", wrong[i].text, why);
    }
}

Test(lab_weights, the_default_is_100_points_for_each_lab)
{
    struct lab_weights w;
    char why[300];
    for (size_t i = 0; lab_at(i); i++) {
        double sum = 0;
        cr_assert_eq(lab_weights_read("common/tools/labs/weights.txt", lab_at(i), &w, why,
                                      sizeof why),
                     0);
        for (int c = 0; c < LAB_CRITERIA; c++) sum += w.points[c];
        cr_expect_eq(sum, 100, "lab %d", lab_at(i)->number);
    }
}

/* ---- a lab whose result is the elements that are kept ---------------------------------------- */

enum { SEED = 5, FEWEST = 100 /* kept elements of the cases that tests change */ };

static const struct lab_weights weights_kept = {{30, 10, 40, 20}};
static const struct lab *lab;

static void init_kept(void)
{
    lab = lab_named("13");
    make_results(lab, SEED, false, &own);
    make_results(lab, SEED, false, &reference);
}

TestSuite(lab_kept, .init = init_kept, .fini = fini);

static double score_kept(void)
{
    cr_assert_eq(score_lab(lab, &own, &reference, &weights_kept, &verdict), 0, "%s",
                 verdict.failure);
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
    cr_expect_lt(score_kept(), 100);
    cr_expect_eq(verdict.right_cases, verdict.cases - 1);
    for (size_t i = 0; i < verdict.line_count; i++)
        found |= strstr(verdict.lines[i].text, text) != NULL;
    cr_expect(found, "no line says \"%s\", but the first one \"%s\"", text, verdict.lines[0].text);
}

Test(lab_kept, right_results_have_all_points)
{
    cr_expect_eq(score_kept(), 100);
    cr_expect_eq(verdict.right_cases, own.case_count);
}

Test(lab_kept, wrong_elements_and_numbers_are_named)
{
    enum { NUMBER = -1 };
    static const struct {
        int at;
        uint32_t changed, to;
        const char *text;
    } rows[] = {
        {7, 0x80000000, 0, "kept element 7 of "},
        {3, 0, 0xFFFFFFFF, "was never written; it should be "},
        {3, 0, 0xCDCDCDCD, "is a value that was never stored; it should be "},
        {NUMBER, 1, 0, "the number of kept elements is "},
        {NUMBER, 0, 0xCDCDCDCD, "the number of kept elements is a value that was never stored"},
        {NUMBER, 0, 0xFFFFFFFF, "the number of kept elements was never written"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fini();
        init_kept();
        uint32_t *word = rows[i].at == NUMBER ? count_of(large()) : &large()->out[rows[i].at];
        *word = rows[i].changed ? *word ^ rows[i].changed : rows[i].to;
        expect_wrong(rows[i].text);
    }
}

static void write_behind(struct lab_case_result *r) { r->out[*count_of(r)] = 0; }

static void reorder(struct lab_case_result *r)
{
    uint32_t *out = r->out, first = out[0];
    size_t last = *count_of(r) - 1;
    while (out[last] == first) last--;
    out[0] = out[last];
    out[last] = first;
}

static void shift(struct lab_case_result *r)
{
    memmove(&r->out[1], r->out, *count_of(r) * sizeof *r->out);
    r->out[0] = 0xFFFFFFFF;
}

static void keep_all(struct lab_case_result *r)
{
    lab_input(&r->is, (float *)r->out);
    *count_of(r) = (uint32_t)r->is.n;
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

Test(lab_kept, causes)
{
    static const struct {
        void (*spoil)(struct lab_case_result *);
        const char *text;
    } rows[] = {
        {write_behind, " was written, although only "},
        {reorder, "the right elements are in another order"},
        {shift, "every kept element is one place too far"},
        {keep_all, "every element is kept, at its own place"},
        {keep_zeros, "0 is kept, and is not greater than 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fini();
        init_kept();
        rows[i].spoil(large());
        expect_wrong(rows[i].text);
    }
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
    score_kept();
    cr_expect_gt(verdict.right_cases, 0);
    cr_expect_eq(verdict.fraction[LAB_WORK], 0);
    cr_expect_leq(verdict.points, weights_kept.points[LAB_HAZARDS] * verdict.correctness);
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
    cr_expect_eq(score_kept(), 100);
    adds->elements *= 3;
    cr_expect_lt(score_kept(), 100);
}

/* As many atomic operations as elements leave nothing of the size's points for work. */
Test(lab_kept, places_from_atomic_operations_earn_no_work)
{
    for (size_t i = 0; i < own.case_count; i++)
        make_operation(&own.cases[i], "atom.add.u32", EMU_CLASS_ATOMIC, own.cases[i].is.n);
    score_kept();
    cr_expect_lt(verdict.fraction[LAB_WORK], 0.01);
    cr_expect_eq(verdict.fraction[LAB_SECTORS], 1);
}

/* ---- the stream of results ------------------------------------------------------------------- */

/* The stream of a right solution of lab 3. */
struct stream {
    unsigned char *bytes;
    size_t size;
};

static void write_all(int fd, const struct lab_results *results)
{
    cr_assert_eq(results_write_begin(fd, lab_named("3"), results->seed, results->handed_out), 0);
    for (size_t i = 0; i < results->case_count; i++)
        cr_assert_eq(results_write_case(fd, &results->cases[i]), 0);
    cr_assert_eq(results_write_end(fd), 0);
}

static struct stream make_stream(void)
{
    struct lab_results results;
    struct stream stream;
    FILE *file = tmpfile();
    make_results(lab_named("3"), 5, true, &results);
    make_finding(&results.cases[0], 7);
    write_all(fileno(file), &results);
    stream.size = (size_t)lseek(fileno(file), 0, SEEK_END);
    stream.bytes = malloc(stream.size);
    cr_assert_eq(pread(fileno(file), stream.bytes, stream.size, 0), (ssize_t)stream.size);
    fclose(file);
    results_free(&results);
    return stream;
}

static void expect_same(const struct lab_case_result *got, const struct lab_case_result *want)
{
    cr_expect_eq(memcmp(&got->is, &want->is, sizeof got->is), 0);
    cr_expect_eq(got->end, want->end);
    cr_expect_eq(memcmp(&got->total, &want->total, sizeof got->total), 0);
    cr_expect_eq(memcmp(got->out, want->out, want->is.n * sizeof *got->out), 0);
    cr_assert_eq(got->line_count, want->line_count);
    cr_expect_eq(memcmp(got->lines, want->lines, want->line_count * sizeof *got->lines), 0);
    cr_assert_eq(got->operation_count, want->operation_count);
    cr_expect_str_eq(got->operations[1].name, want->operations[1].name);
    cr_assert_eq(got->finding_count, want->finding_count);
}

Test(lab_results, what_is_written_is_read)
{
    struct stream stream = make_stream();
    struct lab_results got, want;
    char why[RESULTS_TEXT];
    cr_assert_eq(results_read(stream.bytes, stream.size, &got, why, sizeof why), 0, "%s", why);
    make_results(lab_named("3"), 5, true, &want);
    make_finding(&want.cases[0], 7);
    cr_expect(got.complete && got.lab == 3 && got.seed == 5 && got.handed_out);
    cr_assert_eq(got.case_count, want.case_count);
    for (size_t i = 0; i < want.case_count; i++) expect_same(&got.cases[i], &want.cases[i]);
    cr_expect_eq(got.cases[0].findings[0].line, 7);
    results_free(&got);
    results_free(&want);
    free(stream.bytes);
}

/* The bytes are copied, so that the sanitizers notice a read beyond their end. */
static int read_copy(const void *bytes, size_t size, struct lab_results *got, char *why)
{
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    int code = results_read(copy, size, got, why, RESULTS_TEXT);
    free(copy);
    return code;
}

/* Cut anywhere, it is refused, or read up to the last whole case and not complete. */
Test(lab_results, every_beginning_is_read_or_refused)
{
    struct stream stream = make_stream();
    struct lab_results got;
    char why[RESULTS_TEXT];
    unsigned read = 0;
    for (size_t size = 0; size < stream.size; size += size < 2000 ? 1 : 97) {
        if (read_copy(stream.bytes, size, &got, why)) {
            cr_expect(strstr(why, "The results cannot be read: "), "%zu: %s", size, why);
            cr_expect_eq(got.case_count, 0);
            continue;
        }
        read++;
        cr_expect_not(got.complete, "%zu bytes", size);
        results_free(&got);
    }
    cr_expect_gt(read, 0);
    free(stream.bytes);
}

/* Whatever was read can be scored, and the verdict printed. */
static void score_and_print(const struct lab_results *results, FILE *out)
{
    static const struct lab_weights weights = {{40, 20, 20, 20}};
    static struct lab_verdict verdict;
    static struct lab_results reference;
    if (!reference.case_count) make_results(lab_named("3"), 5, true, &reference);
    score_lab(lab_named("3"), results, &reference, &weights, &verdict);
    cr_expect(verdict.points >= 0 && verdict.points <= 100, "%g points", verdict.points);
    lab_verdict_text(out, &verdict, "labs/lab3.cu");
    lab_verdict_json(out, &verdict, "labs/lab3.cu", false);
}

/* Random bytes are changed. Whatever is read then keeps the limits, and its texts end. */
Test(lab_results, changed_bytes_do_no_harm)
{
    struct stream stream = make_stream();
    unsigned char *changed = malloc(stream.size);
    struct lab_results got;
    FILE *out = fopen("/dev/null", "w");
    unsigned scored = 0;
    char why[RESULTS_TEXT];
    srand(1);
    for (int round = 0; round < 300; round++) {
        memcpy(changed, stream.bytes, stream.size);
        for (int k = 0; k < 1 + round % 30; k++)
            changed[(size_t)rand() % (round % 2 ? stream.size : 3000)] = (unsigned char)rand();
        if (read_copy(changed, stream.size, &got, why)) continue;
        cr_expect_leq(got.case_count, LAB_CASES);
        for (size_t i = 0; i < got.case_count; i++) {
            cr_expect_lt(strlen(got.cases[i].message), RESULTS_TEXT);
            cr_expect_leq(got.cases[i].finding_count, RESULTS_FINDINGS);
            cr_expect_eq(got.cases[i].out != NULL, got.cases[i].end == LAB_RAN);
        }
        score_and_print(&got, out);
        scored += got.case_count > 0;
        results_free(&got);
    }
    cr_expect_gt(scored, 50);
    fclose(out);
    free(changed);
    free(stream.bytes);
}

Test(lab_results, more_cases_than_allowed_are_refused)
{
    struct lab_results results, got;
    char why[RESULTS_TEXT] = "", path[] = "/tmp/lab-results-XXXXXX";
    int fd = mkstemp(path);
    make_results(lab_named("3"), 5, true, &results);
    results_write_begin(fd, lab_named("3"), 5, true);
    for (int i = 0; i <= LAB_CASES; i++) results_write_case(fd, &results.cases[0]);
    results_write_end(fd);
    cr_expect_eq(results_read_file(path, &got, why, sizeof why), -1);
    cr_expect_str_eq(why, "The results cannot be read: it has too many cases.");
    close(fd);
    unlink(path);
    results_free(&results);
    cr_expect_eq(results_read_file(path, &got, why, sizeof why), -1);
    cr_expect(strstr(why, "No such file"), "%s", why);
}

Test(lab_results, a_full_disk_is_an_errno)
{
    FILE *full = fopen("/dev/full", "w");
    cr_assert(full);
    cr_expect_neq(results_write_begin(fileno(full), lab_named("3"), 1, true), 0);
    fclose(full);
}

/* Counters that no run can have, one at a time. */
static void more_lanes_than_a_warp(struct lab_case_result *r)
{
    r->operations[0].lanes = r->operations[0].instructions * 32 + 1;
}
static void more_than_in_total(struct lab_case_result *r) { r->total.lanes--; }
static void less_than_in_total(struct lab_case_result *r) { r->operations[1].lanes--; }
static void instructions_not_in_total(struct lab_case_result *r) { r->total.instructions--; }
static void better_than_ideal(struct lab_case_result *r) { r->total.shared_ld.wavefronts = 0; }
static void line_better_than_ideal(struct lab_case_result *r)
{
    r->lines[0].counts.shared_st.ideal++;
}
static void copies_better_than_ideal(struct lab_case_result *r) { r->total.shared_copy.ideal++; }
static void lines_beyond_total(struct lab_case_result *r) { r->lines[0].counts.lanes++; }
static void wraps_around(struct lab_case_result *r) { r->total.global_ld.sectors = UINT64_MAX; }
static void elements_wrap(struct lab_case_result *r) { r->operations[0].elements = UINT64_MAX / 2; }
static void findings_wrap(struct lab_case_result *r) { r->errors = r->warnings = UINT64_MAX; }

/* What a process says that a submission has taken over. */
Test(lab_results, counters_that_contradict_each_other_are_refused)
{
    static void (*const forge[])(struct lab_case_result *) = {
        more_lanes_than_a_warp,  more_than_in_total,
        less_than_in_total,      instructions_not_in_total,
        better_than_ideal,       line_better_than_ideal,
        lines_beyond_total,      wraps_around,
        elements_wrap,           findings_wrap,
        copies_better_than_ideal};
    for (size_t i = 0; i < sizeof forge / sizeof *forge; i++) {
        struct lab_results results, got;
        char why[RESULTS_TEXT];
        FILE *file = tmpfile();
        make_results(lab_named("3"), 5, true, &results);
        forge[i](&results.cases[3]);
        write_all(fileno(file), &results);
        results_free(&results);
        static unsigned char bytes[1 << 20];
        ssize_t size = pread(fileno(file), bytes, sizeof bytes, 0);
        fclose(file);
        cr_assert_eq(read_copy(bytes, (size_t)size, &got, why), -1, "forgery %zu", i);
        cr_expect(strstr(why, "its counters contradict each other"), "%zu: %s", i, why);
    }
}

/* ---- which line of a CUDA file stands in an `if`? -------------------------------------------- */

/* Of each line that has a barrier: the end of its comment says whether it stands in a branch. */
static const char source[] = "#define IF if (x) {\n"
                             "__global__ void k(int n)\n"
                             "{\n"
                             "    __syncthreads(); // out\n"
                             "    if (n > 1) { // if (n) {\n"
                             "        n = 2;\n"
                             "        __syncthreads(); // in\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        if (i) n++;\n"
                             "        __syncthreads(); // out\n"
                             "        if (i < 3)\n"
                             "            __syncthreads(); // in\n"
                             "        else {\n"
                             "            while (n)\n"
                             "            {\n"
                             "                __syncthreads(); // in\n"
                             "            }\n"
                             "        }\n"
                             "        if (i < 4) __syncthreads(); // in\n"
                             "        /* if (n) { */ __syncthreads(); // out\n"
                             "        iffy = 1; __syncthreads(); // out\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "}\n";

Test(in_branch, braces_and_statements_without_them)
{
    FILE *file = fmemopen((void *)(uintptr_t)source, sizeof source - 1, "r");
    cr_assert(file);
    unsigned line = 1, barriers = 0;
    for (const char *text = source; *text; line++) {
        size_t length = strcspn(text, "\n");
        bool has_barrier = memmem(text, length, "__sync", 6) != NULL;
        bool is_in = text[length - 1] == 'n' && text[length - 2] == 'i';
        if (has_barrier) cr_expect_eq(is_in_branch(file, line), is_in, "line %u", line);
        barriers += has_barrier;
        text += length + 1;
    }
    cr_expect_eq(barriers, 10);
    cr_expect_not(is_in_branch(file, line + 1));
    fclose(file);
    cr_expect_not(is_in_branch(NULL, 7));
}

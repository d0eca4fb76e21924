/* score_part.c — from results to points. score_sizes.c judges outputs, score_criteria.c compares
 * counters. */
#include "score.h"
#include "score_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void begin_verdict(const struct lab *lab, const struct lab_weights *weights,
                          struct lab_verdict *v)
{
    *v = (struct lab_verdict){.lab = lab};
    for (int c = 0; c < LAB_CRITERIA; c++) {
        v->weight[c] = weights->points[c];
        v->most += weights->points[c];
    }
}

struct verdict_line *add_line(struct lab_verdict *v, enum lab_criterion criterion, double lost,
                              const char *format, ...)
{
    static struct verdict_line dropped;
    struct verdict_line *line = &dropped;
    if (v->line_count < VERDICT_LINES) line = &v->lines[v->line_count++];
    *line = (struct verdict_line){.criterion = criterion, .lost = lost, .chapter = v->lab->chapter};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
    return line;
}

static int unjudged(struct lab_verdict *v, const char *why)
{
    v->status = VERDICT_UNJUDGED;
    snprintf(v->failure, sizeof v->failure, "%s", why);
    return -1;
}

static bool is_same_case(const struct lab_case *a, const struct lab_case *b)
{
    return a->n == b->n && a->input == b->input && a->schedule == b->schedule &&
           a->clock == b->clock && a->boundary == b->boundary && a->exponent == b->exponent &&
           a->descending == b->descending && a->share == b->share;
}

/* Are the results those of the lab's cases with this seed? Cases at the end may be missing. */
static bool belong(const struct lab *lab, const struct lab_results *r, uint64_t seed,
                   bool handed_out)
{
    struct lab_case cases[LAB_CASES];
    size_t count = lab_cases(lab, seed, handed_out, cases);
    if (r->lab != lab->number || r->seed != seed || r->handed_out != handed_out) return false;
    if (r->case_count > count) return false;
    for (size_t i = 0; i < r->case_count; i++)
        if (!is_same_case(&r->cases[i].is, &cases[i])) return false;
    return true;
}

static bool is_reference(const struct lab *lab, const struct lab_results *r)
{
    struct lab_case cases[LAB_CASES];
    if (!r->complete || r->case_count != lab_cases(lab, r->seed, r->handed_out, cases))
        return false;
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].end != LAB_RAN) return false;
    return true;
}

/* A limit on seconds was exceeded: the machine was too busy. */
static const char *machine_failure(const struct lab_results *r)
{
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].end == LAB_SECONDS) return r->cases[i].message;
    return NULL;
}

static double fraction_of(unsigned part, unsigned all) { return all ? (double)part / all : 0; }

/* Students know the edges, which are among the graded sizes. Answers for these alone are worth
 * nothing. If all sizes are handed out, all cases count. */
static void find_correctness(struct lab_verdict *v)
{
    double all = fraction_of(v->right_cases, v->cases);
    double unseen = v->unseen ? fraction_of(v->right_unseen, v->unseen) : all;
    v->correctness = unseen < all ? unseen : all;
    if (v->correctness < all)
        add_line(v, LAB_CRITERIA, v->most * (all - unseen),
                 "%u of %u runs at sizes that are not handed out are right. This fraction is less "
                 "than that of all runs, so it multiplies the points.",
                 v->right_unseen, v->unseen);
}

static void add_points(struct lab_verdict *v)
{
    double sum = 0;
    for (int c = 0; c < LAB_CRITERIA; c++) sum += v->weight[c] * v->fraction[c];
    v->points = v->correctness * sum;
}

/* A report does not show what kernels print, as `make check` does. */
static void note_printed(struct lab_verdict *v, const struct lab_results *results)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < results->case_count; i++) lines += results->cases[i].printed;
    if (lines == 0) return;
    add_line(
        v, LAB_CRITERIA, 0,
        "The kernels have printed %llu line%s in all runs; `make check%d` shows the first ones.",
        (unsigned long long)lines, lines == 1 ? "" : "s", v->lab->number)
        ->chapter = "notes/labs.md";
}

int score_lab(const struct lab *lab, const struct lab_results *results,
              const struct lab_results *reference, const struct lab_weights *weights,
              struct lab_verdict *v)
{
    begin_verdict(lab, weights, v);
    v->seed = reference->seed;
    v->handed_out = reference->handed_out;
    if (!belong(lab, reference, reference->seed, reference->handed_out) ||
        !is_reference(lab, reference))
        return unjudged(v, "The results of the step's own solution are not complete.");
    if (!belong(lab, results, reference->seed, reference->handed_out))
        return unjudged(v, "The results are not those of this lab's cases.");
    const char *failure = machine_failure(results);
    if (failure) return unjudged(v, failure);

    score_sizes(v, results, reference);
    find_correctness(v);
    score_criteria(v, results, reference);
    if (!v->handed_out) note_printed(v, results);
    add_points(v);
    return 0;
}

void score_nothing(const struct lab *lab, const struct lab_weights *weights, const char *why,
                   struct lab_verdict *v)
{
    begin_verdict(lab, weights, v);
    snprintf(v->failure, sizeof v->failure, "%s", why);
    add_line(v, LAB_CRITERIA, v->most, "%s", why)->chapter = "notes/labs.md";
}

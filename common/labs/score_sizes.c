/* score_sizes.c — is the output of each run right? */
#include "common/harness/verify/verify.h"
#include "score_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one output ------------------------------------------------------------------------------ */

/* verify.h calls its own result a verdict. */
static void describe_mismatch(const struct verdict *found, char *wrong, size_t size)
{
    const struct mismatch *first = &found->first[0];
    bool unwritten = !strcmp(first->got, "never written");
    int length = unwritten ? snprintf(wrong, size, "element %zu was never written; it should be %s",
                                      first->index, first->want)
                           : snprintf(wrong, size, "element %zu is %s and should be %s",
                                      first->index, first->got, first->want);
    if (*found->cause && length > 0 && (size_t)length < size)
        snprintf(wrong + length, size - (size_t)length, "; %s", found->cause);
}

static bool verify(const struct lab *lab, const struct lab_case_result *r, const float *in,
                   char *wrong, size_t size)
{
    struct problem problem = {.element = ELEMENT_F32, .in = in, .n = r->is.n};
    struct facts facts = facts_of(&problem);
    struct tree none = {0}; /* all sums are exact, so no tree is needed */
    struct verifier *verifier = malloc(sizeof *verifier);
    if (!verifier) return false;
    verify_begin(verifier, &problem, &facts, &none, lab->block);
    verify_piece(verifier, r->out, 0, r->is.n);
    struct verdict found = verify_end(verifier);
    free(verifier);
    if (!found.right) describe_mismatch(&found, wrong, size);
    return found.right;
}

bool output_is_right(const struct lab *lab, const struct lab_case_result *r, char *wrong,
                     size_t size)
{
    snprintf(wrong, size, "%s", r->message);
    if (r->end != LAB_RAN || !r->out) return false;
    float *in = malloc(r->is.n * sizeof *in);
    snprintf(wrong, size, "memory does not suffice to verify it");
    if (!in) return false;
    lab_input(&r->is, in);
    bool right = verify(lab, r, in, wrong, size);
    free(in);
    if (right) *wrong = '\0';
    return right;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static struct verdict_size *size_of(struct lab_verdict *v, size_t n)
{
    for (size_t i = 0; i < v->size_count; i++)
        if (v->sizes[i].n == n) return &v->sizes[i];
    if (v->size_count == LAB_SIZES) return NULL;
    struct verdict_size *size = &v->sizes[v->size_count++];
    *size = (struct verdict_size){.n = n, .right = true};
    return size;
}

static void note_counters(struct verdict_size *size, const struct lab *lab,
                          const struct lab_case_result *own,
                          const struct lab_case_result *reference)
{
    struct lab_sums got = lab_sums(lab, own), expected = lab_sums(lab, reference);
    size->adds = got.adds;
    size->expected_adds = expected.adds;
    size->conflicts = got.conflicts;
    size->expected_conflicts = expected.conflicts;
    size->sectors = got.sectors;
    size->expected_sectors = expected.sectors;
}

static void note_case(struct lab_verdict *v, const struct lab_case_result *r,
                      const struct lab_case_result *reference)
{
    char wrong[VERDICT_TEXT];
    struct verdict_size *size = size_of(v, reference->is.n);
    bool right = output_is_right(v->lab, r, wrong, sizeof wrong);
    v->cases++;
    v->right_cases += right;
    if (!size) return;
    size->cases++;
    size->wrong_cases += !right;
    if (r->is.schedule == 0) note_counters(size, v->lab, r, reference);
    if (r->errors > size->errors) size->errors = r->errors;
    if (r->end > size->end) size->end = r->end;
    if (!right && size->right) snprintf(size->wrong, sizeof size->wrong, "%s", wrong);
    size->right &= right;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* The first error that a checker has found at a size, which is often the cause. */
static const struct lab_finding *first_error(const struct lab_results *results, size_t n)
{
    for (size_t i = 0; i < results->case_count; i++) {
        const struct lab_case_result *r = &results->cases[i];
        for (size_t f = 0; r->is.n == n && f < r->finding_count; f++)
            if (r->findings[f].severity == EMU_FINDING_ERROR && r->findings[f].line)
                return &r->findings[f];
    }
    return NULL;
}

/* One line for each reason: sizes that are wrong in the same way share it. */
static bool is_same_reason(const struct verdict_size *a, const struct verdict_size *b)
{
    return !a->right && !b->right && a->end != LAB_RAN && b->end != LAB_RAN &&
           !strcmp(a->wrong, b->wrong);
}

static bool is_known(const struct lab_verdict *v, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (is_same_reason(&v->sizes[i], &v->sizes[size])) return true;
    return false;
}

static double lost_for(const struct lab_verdict *v, size_t size)
{
    unsigned wrong = v->sizes[size].wrong_cases;
    for (size_t i = size + 1; i < v->size_count; i++)
        if (is_same_reason(&v->sizes[i], &v->sizes[size])) wrong += v->sizes[i].wrong_cases;
    return v->most * wrong / v->cases;
}

static void explain_size(struct lab_verdict *v, const struct lab_results *results, size_t size)
{
    const struct verdict_size *s = &v->sizes[size];
    const struct lab_finding *error = first_error(results, s->n);
    double lost = lost_for(v, size);
    struct verdict_line *line;
    if (s->end == LAB_RAN || s->end == LAB_FAULT)
        line = add_line(v, LAB_CRITERIA, lost, "n = %zu: %s.", s->n, s->wrong);
    else if (size > 0)
        line = add_line(v, LAB_CRITERIA, lost, "from n = %zu on: %s", s->n, s->wrong);
    else
        line = add_line(v, LAB_CRITERIA, lost, "%s", s->wrong);
    if (!error) return;
    snprintf(line->file, sizeof line->file, "%s", error->file);
    line->line = error->line;
}

void score_sizes(struct lab_verdict *v, const struct lab_results *results,
                 const struct lab_results *reference)
{
    static const struct lab_case_result missing = {.end = LAB_NOT_RUN,
                                                   .message = "the run ended before this size."};
    for (size_t i = 0; i < reference->case_count; i++)
        note_case(v, i < results->case_count ? &results->cases[i] : &missing, &reference->cases[i]);
    for (size_t i = 0; i < v->size_count; i++)
        if (!v->sizes[i].right && !is_known(v, i)) explain_size(v, results, i);
}

/*
 * score_sizes.c — is the output of each run right?
 */
#include "score.h"
#include "common/harness/verify/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- are the elements of an output those that should be kept, and is their number? ----------- */

enum { NUMBER_TEXT = 40 };
#define NEVER_WRITTEN (VERIFY_POISON * 0x01010101u)   /* a word of the output before a run */
#define NEVER_STORED  (VERIFY_UNSTORED * 0x01010101u) /* a word of other memory before a store */

static float value_of(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The elements greater than 0, in their order. Returns how many there are. */
static size_t keep(const float *in, size_t n, float *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (in[i] > 0) kept[count++] = in[i];
    return count;
}

static void value_text(uint32_t word, char text[NUMBER_TEXT])
{
    if (word == NEVER_WRITTEN)
        snprintf(text, NUMBER_TEXT, "was never written");
    else if (word == NEVER_STORED)
        snprintf(text, NUMBER_TEXT, "is a value that was never stored");
    else
        snprintf(text, NUMBER_TEXT, "is %.9g", (double)value_of(word));
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Are the same elements there, in whatever order? Sorts both. */
static bool is_permutation(const uint32_t *out, float *kept, size_t count)
{
    float *own = malloc(count * sizeof *own);
    if (!own) return false;
    memcpy(own, out, count * sizeof *own);
    qsort(own, count, sizeof *own, by_value);
    qsort(kept, count, sizeof *kept, by_value);
    bool same = !memcmp(own, kept, count * sizeof *own);
    free(own);
    return same;
}

/* `first` is the first wrong element. */
static const char *cause_of(const struct lab_case_result *r, const float *in, float *kept,
                            size_t count, size_t first)
{
    size_t n = r->is.n;
    if (count < n && !memcmp(r->out, in, n * sizeof *in))
        return "every element is kept, at its own place";
    if (value_of(r->out[first]) == 0) return "0 is kept, and is not greater than 0";
    if (count > 1 && r->out[0] == NEVER_WRITTEN &&
        !memcmp(r->out + 1, kept, (count - 1) * sizeof *kept))
        return "every kept element is one place too far: is the scan inclusive?";
    if (is_permutation(r->out, kept, count)) return "the right elements are in another order";
    return "";
}

/* The first element that is not the right one. */
static bool elements_are_right(const struct lab_case_result *r, const float *in, float *kept,
                               size_t count, struct wrong_output *wrong)
{
    char got[NUMBER_TEXT];
    size_t i = 0;
    while (i < count && !memcmp(&r->out[i], &kept[i], sizeof *kept)) i++;
    if (i == count) return true;
    value_text(r->out[i], got);
    wrong->word = i;
    snprintf(wrong->text, sizeof wrong->text, "kept element %zu of %zu %s; it should be %.9g", i,
             count, got, (double)kept[i]);
    snprintf(wrong->cause, sizeof wrong->cause, "%s", cause_of(r, in, kept, count, i));
    return false;
}

static bool count_is_right(const struct lab_case_result *r, size_t count,
                           struct wrong_output *wrong)
{
    uint32_t got = r->out[r->is.n];
    if (got == count) return true;
    wrong->word = r->is.n;
    if (got == NEVER_WRITTEN)
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements was never written; it should be %zu", count);
    else if (got == NEVER_STORED)
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements is a value that was never stored; it should be %zu",
                 count);
    else
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements is %u; it should be %zu", got, count);
    return false;
}

static bool rest_is_unwritten(const struct lab_case_result *r, size_t count,
                              struct wrong_output *wrong)
{
    size_t i = count;
    while (i < r->is.n && r->out[i] == NEVER_WRITTEN) i++;
    if (i == r->is.n) return true;
    wrong->word = i;
    snprintf(wrong->text, sizeof wrong->text, "element %zu was written, although only %zu are kept",
             i, count);
    return false;
}

/* The same of a case's output and input where the result is LAB_KEPT. An element,
 * the number of kept elements, or what is stored behind them may be wrong. */
static bool kept_is_right(const struct lab *lab, const struct lab_case_result *r, const float *in,
                          struct wrong_output *wrong)
{
    (void)lab;
    float *kept = malloc(r->is.n * sizeof *kept);
    if (!kept) return false; /* the text says so already */
    size_t count = keep(in, r->is.n, kept);
    bool right = elements_are_right(r, in, kept, count, wrong) && count_is_right(r, count, wrong) &&
                 rest_is_unwritten(r, count, wrong);
    free(kept);
    return right;
}

/* ---- one output ------------------------------------------------------------------------------ */

/* verify.h calls its own result a verdict. `start` is the first element that it is about. */
static void describe_mismatch(const struct verdict *found, size_t start, struct wrong_output *wrong)
{
    const struct mismatch *first = &found->first[0];
    const char *format = "element %zu is %s, and should be %s";
    if (!strcmp(first->got, "never written")) format = "element %zu was %s; it should be %s";
    if (!strcmp(first->got, "never stored"))
        format = "element %zu is a value that was %s; it should be %s";
    wrong->word = start + first->index;
    snprintf(wrong->text, sizeof wrong->text, format, wrong->word, first->got, first->want);
    snprintf(wrong->cause, sizeof wrong->cause, "%s", found->cause);
}

/* Verifies the elements from `start` on, as a scan of their own, without the first `left_out`. */
static bool verify_part(const struct lab *lab, const struct lab_case_result *r, const float *in,
                        size_t start, size_t end, size_t left_out, struct wrong_output *wrong)
{
    struct problem problem = {.element = ELEMENT_F32,
                              .in = in + start,
                              .n = end - start,
                              .before = start,
                              .ahead = end < r->is.n};
    struct facts facts = facts_of(&problem);
    struct verifier *verifier = malloc(sizeof *verifier);
    if (!verifier) return false;
    verify_begin(verifier, &problem, &facts, 0, start ? 0 : lab->block);
    verify_piece(verifier, r->out + start + left_out, left_out, end - start - left_out);
    struct verdict found = verify_end(verifier);
    free(verifier);
    if (!found.right) describe_mismatch(&found, start, wrong);
    return found.right;
}

/* Does block 1, up to `n`, hold the scan of block 0's elements, on top of any sum? Such a kernel
 * forgets where a block begins. The first two elements say nothing: they have one difference. */
static bool repeats_block(const struct lab *lab, const struct lab_case_result *r, const float *in,
                          size_t n)
{
    size_t block = lab->block, end = n < 2 * block ? n : 2 * block;
    float sum = 0;
    if (!block || end < block + 3) return false;
    for (size_t i = block; i < end; i++) {
        if (value_of(r->out[i]) - value_of(r->out[block]) != sum) return false;
        sum += in[i - block];
    }
    return true;
}

#define BOUNDARY " (the inputs "
/* Behind a boundary, sums hold nothing of the elements before it. The output at the boundary holds
 * nothing else; it is left out, since a right solution may have made it as the difference of two
 * sums behind the boundary. */
static bool sums_are_right(const struct lab *lab, const struct lab_case_result *r, const float *in,
                           struct wrong_output *wrong)
{
    size_t boundary = r->is.boundary, n = r->is.n;
    size_t end = boundary ? boundary : n;
    bool right = verify_part(lab, r, in, 0, end, 0, wrong);
    if (!right && !*wrong->cause && repeats_block(lab, r, in, end))
        snprintf(wrong->cause, sizeof wrong->cause, "block 1 scans block 0's elements again");
    if (boundary == 0 || !right) return right;
    if (verify_part(lab, r, in, boundary, n, 1, wrong)) return true;
    size_t used = strlen(wrong->text);
    snprintf(wrong->text + used, sizeof wrong->text - used,
             BOUNDARY "from element %zu on are so large that the others vanish in sums)", boundary);
    return false;
}

typedef bool verify(const struct lab *, const struct lab_case_result *, const float *in,
                    struct wrong_output *);
static verify *const verify_result[] = {[LAB_SUMS] = sums_are_right, [LAB_KEPT] = kept_is_right};

bool output_is_right(const struct lab *lab, const struct lab_case_result *r,
                     struct wrong_output *wrong)
{
    *wrong = (struct wrong_output){.word = SIZE_MAX};
    snprintf(wrong->text, sizeof wrong->text, "%s", r->message);
    if (r->end != LAB_RAN || !r->out) return false;
    float *in = malloc(r->is.n * sizeof *in);
    snprintf(wrong->text, sizeof wrong->text, "memory does not suffice to verify it");
    if (!in) return false;
    lab_input(&r->is, in);
    bool right = verify_result[lab->result](lab, r, in, wrong);
    free(in);
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
    struct lab_sums expected = lab_sums(lab, reference, NULL);
    struct lab_sums got = lab_sums(lab, own, &expected);
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
    struct wrong_output wrong;
    struct verdict_size *size = size_of(v, reference->is.n);
    bool right = output_is_right(v->lab, r, &wrong);
    v->cases++;
    v->right_cases += right;
    if (!lab_hands_out(v->lab, reference->is.n)) {
        v->unseen++;
        v->right_unseen += right;
    }
    if (!size) return;
    size->cases++;
    size->wrong_cases += !right;
    if (r->is.schedule == 0) note_counters(size, v->lab, r, reference);
    if (r->errors + r->warnings > size->errors) size->errors = r->errors + r->warnings;
    if (r->end > size->end) size->end = r->end;
    if (!right && size->right) {
        memcpy(size->wrong, wrong.text, sizeof size->wrong);
        memcpy(size->cause, wrong.cause, sizeof size->cause);
    }
    size->right &= right;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* Is the finding about the same lines? A race's two accesses may have changed places. */
static bool is_same_place(const struct lab_finding *a, const struct lab_finding *b)
{
    return a->tool == b->tool && !strcmp(a->file, b->file) &&
           ((a->line == b->line && a->other_line == b->other_line) ||
            (a->line == b->other_line && a->other_line == b->line));
}

/* The first finding of a severity at a size, which is about the same lines as `same`, if there is
 * one (NULL: any). */
static const struct lab_finding *first_finding(const struct lab_results *results, size_t n,
                                               enum emu_severity severity,
                                               const struct lab_finding *same)
{
    for (size_t i = 0; i < results->case_count; i++) {
        const struct lab_case_result *r = &results->cases[i];
        for (size_t f = 0; r->is.n == n && f < r->finding_count; f++) {
            const struct lab_finding *found = &r->findings[f];
            if (found->severity != severity || !found->line) continue;
            if (!same || is_same_place(found, same)) return found;
        }
    }
    return NULL;
}

/*
 * The finding of a severity at a size that says most about the fault: one of the smallest size that
 * has any, if it is found here, too. Without a barrier, threads of a large block also run into each
 * other at lines that are far apart, in parts of the kernel that are right.
 */
static const struct lab_finding *plain_finding(const struct lab_verdict *v,
                                               const struct lab_results *results, size_t n,
                                               enum emu_severity severity)
{
    const struct lab_finding *plain = NULL, *here = NULL;
    for (size_t i = 0; !plain && i < v->size_count; i++)
        plain = first_finding(results, v->sizes[i].n, severity, NULL);
    if (plain) here = first_finding(results, n, severity, plain);
    return here ? here : first_finding(results, n, severity, NULL);
}

/* Sizes that are wrong for the same reason share a line. Wrong elements have the same reason if the
 * likely causes are the same but for numbers, and so are texts without a cause. Faults at one line
 * are one reason. */
static bool is_same_reason(const struct verdict_size *a, const struct verdict_size *b)
{
    if (a->right || b->right || (a->end == LAB_RAN) != (b->end == LAB_RAN)) return false;
    if (a->end == LAB_RAN)
        return a->error_line == b->error_line && a->other_line == b->other_line &&
               same_but_numbers(a->cause, b->cause, "") &&
               (*a->cause || same_but_numbers(a->wrong, b->wrong, BOUNDARY));
    if (a->end == LAB_FAULT && b->end == LAB_FAULT && a->error_line)
        return a->error_line == b->error_line;
    return same_but_numbers(a->wrong, b->wrong, "");
}

static bool is_known(const struct lab_verdict *v, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (is_same_reason(&v->sizes[i], &v->sizes[size])) return true;
    return false;
}

/* The wrong runs for one reason, and the number of further sizes. */
static unsigned wrong_runs(const struct lab_verdict *v, size_t size, unsigned *more)
{
    unsigned wrong = v->sizes[size].wrong_cases;
    *more = 0;
    for (size_t i = size + 1; i < v->size_count; i++) {
        if (!is_same_reason(&v->sizes[i], &v->sizes[size])) continue;
        wrong += v->sizes[i].wrong_cases;
        ++*more;
    }
    return wrong;
}

static void explain_size(struct lab_verdict *v, size_t size)
{
    const struct verdict_size *s = &v->sizes[size];
    unsigned more, wrong = wrong_runs(v, size, &more);
    char others[64] = "";
    if (more)
        snprintf(others, sizeof others, " (similarly %u more size%s)", more, more > 1 ? "s" : "");
    struct verdict_line *line =
        add_line(v, LAB_CRITERIA, v->most * wrong / v->cases, "n = %zu%s: %s%s%s", s->n, others,
                 s->wrong, *s->cause ? "; " : "", s->cause);
    snprintf(line->file, sizeof line->file, "%s", s->error_file);
    line->line = s->error_line;
}

/* A guess from the numbers alone, which says less than an error of a checker. */
static bool is_weak(const char *cause)
{
    static const char *const weak[] = {"all are off by", "only the last", "neighbours were",
                                       "most are swapped", "memory was read"};
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++)
        if (!strncmp(cause, weak[i], strlen(weak[i]))) return true;
    return !*cause;
}

/* Where a finding is, as a part of a sentence. */
static void place_text(const struct verdict_size *size, char *text, size_t bytes)
{
    unsigned a = size->error_line, b = size->other_line;
    if (b == 0)
        snprintf(text, bytes, "at line %u", a);
    else if (a == b)
        snprintf(text, bytes, "between threads at line %u", a);
    else
        snprintf(text, bytes, "between lines %u and %u", a < b ? a : b, a < b ? b : a);
}

/* Do several lanes execute a line's stores to shared memory, all of them to one address? */
static bool stores_once(const struct lab_results *results, const struct lab_finding *f, size_t n,
                        unsigned line)
{
    for (size_t i = 0; i < results->case_count; i++) {
        const struct lab_case_result *r = &results->cases[i];
        for (size_t k = 0; r->is.n == n && k < r->line_count; k++) {
            const struct emu_shared *st = &r->lines[k].counts.shared_st;
            if (r->lines[k].line == line && !strcmp(r->lines[k].file, f->file))
                return st->one_address > 0 && st->one_address == st->instructions;
        }
    }
    return false;
}

/* What a hint says more about a finding than its place. */
static void note_finding(struct verdict_size *size, const struct lab_results *results,
                         const struct lab_finding *f)
{
    size->error_tool = f->tool;
    snprintf(size->error_file, sizeof size->error_file, "%s", f->file);
    snprintf(size->error_kind, sizeof size->error_kind, "%s", f->kind);
    size->error_line = f->line;
    size->caller_line = f->caller_line;
    size->in_global = strstr(f->text, "__global__") != NULL;
    if (f->tool == EMU_CHECK_SYNC) size->barrier_line = f->other_line;
    if (f->tool != EMU_CHECK_RACE) return;
    size->other_line = f->other_line;
    if (stores_once(results, f, size->n, f->line)) size->one_store_line = f->line;
    if (stores_once(results, f, size->n, f->other_line)) size->one_store_line = f->other_line;
}

/* Where a checker has found an error. If the size is wrong, it is often the cause. */
static void note_error(const struct lab_verdict *v, struct verdict_size *size,
                       const struct lab_results *results)
{
    char place[60];
    const struct lab_finding *error = plain_finding(v, results, size->n, EMU_FINDING_ERROR);
    bool is_error = error != NULL;
    if (!error) error = plain_finding(v, results, size->n, EMU_FINDING_WARNING);
    if (!error) return;
    size->only_warning = !is_error;
    note_finding(size, results, error);
    if (size->end != LAB_RAN) shorten_places(size->wrong, size->error_file, size->error_line);
    if (!is_error || size->right || size->end != LAB_RAN || !is_weak(size->cause)) return;
    place_text(size, place, sizeof place);
    snprintf(size->cause, sizeof size->cause, LAB_FINDING_CAUSE " %s may be the cause", place);
}

void score_sizes(struct lab_verdict *v, const struct lab_results *results,
                 const struct lab_results *reference)
{
    static const struct lab_case_result missing = {.end = LAB_NOT_RUN,
                                                   .message = "the run ended before this size"};
    for (size_t i = 0; i < reference->case_count; i++)
        note_case(v, i < results->case_count ? &results->cases[i] : &missing, &reference->cases[i]);
    for (size_t i = 0; i < v->size_count; i++) note_error(v, &v->sizes[i], results);
    for (size_t i = 0; i < v->size_count; i++)
        if (!v->sizes[i].right && !is_known(v, i)) explain_size(v, i);
}

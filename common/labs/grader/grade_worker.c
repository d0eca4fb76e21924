/*
 * grade_worker.c — what a worker process does with one submission.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "hash.h"
#include "same_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- copying and compiling ------------------------------------------------------------------- */

static void forget(const struct grader *grader, const struct submission *submission)
{
    char path[PATH_MAX];
    for (enum state_file which = STATE_SOURCE; which <= FILE_HTML; which++) {
        state_path(grader, submission, which, path);
        unlink(path);
    }
}

/* Is the PTX there that was stored? A machine that lost its power may have damaged it. */
static bool has_ptx(const struct grader *grader, const struct submission *submission, uint64_t hash)
{
    char path[PATH_MAX];
    size_t size;
    state_path(grader, submission, STATE_PTX, path);
    char *ptx = state_read(path, GRADER_PTX_BYTES, &size);
    bool is_there = ptx != NULL && hash_bytes(HASH_NONE, ptx, size) == hash;
    free(ptx);
    return is_there;
}

/* Has this very text been compiled? Otherwise, what is known is of an earlier version. */
static bool is_compiled(const struct grader *grader, const struct submission *submission,
                        const char *source, size_t size)
{
    char path[PATH_MAX];
    struct compiled compiled;
    size_t old_size;
    state_path(grader, submission, STATE_SOURCE, path);
    char *old = state_read(path, SUBMISSION_BYTES, &old_size);
    bool same = source == NULL ? old == NULL
                               : old != NULL && old_size == size && memcmp(old, source, size) == 0;
    free(old);
    if (!same || !state_compiled(grader, submission, &compiled)) return false;
    free(compiled.messages);
    if (compiled.kind == OUTCOME_DONE && !has_ptx(grader, submission, compiled.ptx)) return false;
    return source != NULL && !(grader->alone && compiled.kind == OUTCOME_DOUBTFUL);
}

static int store(const struct grader *grader, const struct submission *submission,
                 const struct outcome *outcome, struct fault *fault)
{
    struct compiled compiled = {.kind = outcome->kind, .messages = outcome->messages};
    char path[PATH_MAX];
    int code = 0;
    if (outcome->kind == OUTCOME_FAILED)
        return fail(fault, EXIT_DEVICE, "%s: %s", submission->path, outcome->why);
    if (grader->alone && outcome->kind == OUTCOME_DOUBTFUL) compiled.kind = OUTCOME_REFUSED;
    memcpy(compiled.why, outcome->why, sizeof compiled.why);
    if (outcome->kind == OUTCOME_DONE) {
        same_ptx(grader->lab, outcome->bytes, outcome->size, compiled.same);
        compiled.ptx = hash_bytes(HASH_NONE, outcome->bytes, outcome->size);
        state_path(grader, submission, STATE_PTX, path);
        code = state_write(path, outcome->bytes, outcome->size, fault);
    }
    return code != 0 ? code : state_store_compiled(grader, submission, &compiled, fault);
}

static int compile_copy(const struct grader *grader, const struct submission *submission,
                        const char *source, size_t size, struct fault *fault)
{
    char path[PATH_MAX];
    struct outcome outcome;
    state_path(grader, submission, STATE_SOURCE, path);
    int code = state_write(path, source, size, fault);
    if (code != 0) return code;
    grade_compile(grader, path, &outcome);
    code = store(grader, submission, &outcome, fault);
    outcome_end(&outcome);
    return code;
}

bool worker_has_new(const struct grader *grader, const struct submission *submission)
{
    char why[FAULT_TEXT];
    size_t size = 0;
    char *source = submission_read(grader->folder, submission, &size, why, sizeof why);
    bool is_new = source != NULL && !is_compiled(grader, submission, source, size);
    free(source);
    return is_new;
}

int worker_compile(const struct grader *grader, const struct submission *submission,
                   struct fault *fault)
{
    struct outcome refused = {.kind = OUTCOME_REFUSED, .messages = ""};
    size_t size = 0;
    int code = 0;
    char *source =
        submission_read(grader->folder, submission, &size, refused.why, sizeof refused.why);
    if (!is_compiled(grader, submission, source, size)) {
        forget(grader, submission);
        code = source == NULL ? store(grader, submission, &refused, fault)
                              : compile_copy(grader, submission, source, size, fault);
    }
    free(source);
    return code;
}

/* ---- running and judging --------------------------------------------------------------------- */

/* What a person has to look at. */
static void leave_open(const struct grader *grader, const char *why, struct lab_verdict *verdict)
{
    score_nothing(grader->lab, &grader->weights, "", verdict);
    verdict->status = VERDICT_UNJUDGED;
    snprintf(verdict->failure, sizeof verdict->failure, "%s", why);
}

/* What is not judged at the second try is left for a person to look at. Returns 0 then, and an
 * exit code at the first try. */
static int doubt(const struct grader *grader, const struct submission *submission, const char *why,
                 struct lab_verdict *verdict, struct fault *fault)
{
    if (!grader->alone) return fail(fault, EXIT_DEVICE, "%s: %s", submission->path, why);
    leave_open(grader, why, verdict);
    return 0;
}

/* The verdict on results. 0, or an exit code if the machine or the grader has failed. */
static int score(const struct grader *grader, const struct submission *submission,
                 const struct outcome *run, struct lab_verdict *verdict, struct fault *fault)
{
    char why[VERDICT_TEXT];
    struct lab_results *results = calloc(1, sizeof *results);
    if (results == NULL) abort();
    if (results_read(run->bytes, run->size, results, why, sizeof why) != 0) {
        free(results);
        return doubt(grader, submission, why, verdict, fault);
    }
    score_lab(grader->lab, results, &grader->reference, &grader->weights, verdict);
    results_free(results);
    free(results);
    if (verdict->status == VERDICT_JUDGED) return 0;
    snprintf(why, sizeof why, "%s", verdict->failure);
    return doubt(grader, submission, why, verdict, fault);
}

static int judge(const struct grader *grader, const struct submission *submission,
                 const struct compiled *compiled, struct lab_verdict *verdict, struct fault *fault)
{
    char ptx[PATH_MAX];
    struct outcome run;
    int code = 0;
    if (submission->unclear) {
        leave_open(grader, compiled->why, verdict);
        return 0;
    }
    if (compiled->kind != OUTCOME_DONE) {
        score_nothing(grader->lab, &grader->weights, compiled->why, verdict);
        return 0;
    }
    state_path(grader, submission, STATE_PTX, ptx);
    grade_run(grader, ptx, &run);
    if (run.kind == OUTCOME_DONE)
        code = score(grader, submission, &run, verdict, fault);
    else if (run.kind == OUTCOME_REFUSED)
        score_nothing(grader->lab, &grader->weights, run.why, verdict);
    else if (run.kind == OUTCOME_DOUBTFUL)
        code = doubt(grader, submission, run.why, verdict, fault);
    else
        code = fail(fault, EXIT_DEVICE, "%s: %s", submission->path, run.why);
    outcome_end(&run);
    return code;
}

/* ---- leaving files --------------------------------------------------------------------------- */

typedef void print_fn(FILE *, const struct report *);

static void print_row(FILE *out, const struct report *report)
{
    static const char no_points[] = STATUS_LOOK ",,,,,,,,,";
    state_row_head(out, report->grader);
    if (report->verdict->status == VERDICT_JUDGED) {
        fputs(STATUS_JUDGED ",", out);
        csv_verdict(out, report->verdict);
    } else {
        fputs(no_points, out);
        csv_cell(out, report->verdict->failure);
    }
}

static int leave(const struct report *report, enum state_file which, print_fn *print,
                 struct fault *fault)
{
    char path[PATH_MAX], *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) abort();
    print(out, report);
    fclose(out);
    state_path(report->grader, report->submission, which, path);
    int code = state_write(path, text, size, fault);
    free(text);
    return code;
}

/* A report with results shows sizes and inputs. What is handed in after it is another version than
 * this one. */
static int leave_first(const struct report *report, struct fault *fault)
{
    char path[PATH_MAX];
    state_path(report->grader, report->submission, STATE_FIRST, path);
    if (report->verdict->cases == 0 || access(path, F_OK) == 0) return 0;
    return state_write(path, report->source, report->source_size, fault);
}

/* The row comes last: it says that all is done. */
static int leave_all(struct report *report, struct fault *fault)
{
    char path[PATH_MAX];
    state_path(report->grader, report->submission, STATE_SOURCE, path);
    char *source = state_read(path, SUBMISSION_BYTES, &report->source_size);
    report->source = source == NULL ? "" : source;
    int code = leave_first(report, fault);
    if (code == 0) code = leave(report, FILE_TEXT, report_text, fault);
    if (code == 0) code = leave(report, FILE_HTML, report_html, fault);
    if (code == 0) code = leave(report, STATE_ROW, print_row, fault);
    free(source);
    return code;
}

static bool has_reports(const struct grader *grader, const struct submission *submission)
{
    char text[PATH_MAX], html[PATH_MAX];
    state_path(grader, submission, FILE_TEXT, text);
    state_path(grader, submission, FILE_HTML, html);
    return access(text, F_OK) == 0 && access(html, F_OK) == 0;
}

int worker_judge(const struct grader *grader, const struct submission *submission,
                 struct fault *fault)
{
    struct compiled compiled;
    static struct lab_verdict verdict;
    char *row = state_row(grader, submission, NULL);
    free(row);
    if (row != NULL && has_reports(grader, submission)) return 0;
    state_remove_results(grader, submission);
    if (!state_compiled(grader, submission, &compiled))
        return fail(fault, EXIT_DEVICE, "%s has not been compiled", submission->path);
    struct report report = {.grader = grader,
                            .submission = submission,
                            .verdict = &verdict,
                            .messages = compiled.messages};
    int code = judge(grader, submission, &compiled, &verdict, fault);
    verdict.own_compiler = grader->own_compiler;
    if (code == 0) code = leave_all(&report, fault);
    free(compiled.messages);
    return code;
}

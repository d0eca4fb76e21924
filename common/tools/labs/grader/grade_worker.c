/*
 * grade_worker.c — what a worker process does with one submission: it runs it in the sandbox.
 */
#define _GNU_SOURCE
#include "grader.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- runs a program of the grader in the sandbox --------------------------------------------- */

/*
 * Runs a program of the grader in the sandbox, and says whose fault it is if the
 * program was ended.
 */

/* What the program does that a submission must not make it do; NULL: nothing of that kind. */
static const char *misdeed(const struct sandbox_result *result)
{
    switch (result->ending) {
    case SANDBOX_OUTPUT:
        return result->descriptor == SANDBOX_RESULTS ? "leaves more bytes than any solution needs"
                                                     : "prints too many messages";
    case SANDBOX_MEMORY: return "needs too much memory";
    case SANDBOX_IDLE: return "waits for something that never comes";
    default: return NULL;
    }
}

bool outcome_of_ending(const struct sandbox_result *result, const char *text, const char *what,
                       struct outcome *outcome)
{
    enum { CONFINE_FAILED = 125 };
    const char *why = misdeed(result);
    outcome->kind = why != NULL ? OUTCOME_REFUSED : OUTCOME_FAILED;
    if (why != NULL)
        snprintf(outcome->why, sizeof outcome->why, "With this file, %s %s.", what, why);
    else if (result->ending == SANDBOX_WALL)
        snprintf(outcome->why, sizeof outcome->why,
                 "The time for %s is over; this machine is too busy or too slow.", what);
    else if (result->ending == SANDBOX_NOT_BEGUN || result->status == CONFINE_FAILED)
        snprintf(outcome->why, sizeof outcome->why, "The sandbox did not start: %.*s",
                 (int)strcspn(text, "\n"), text);
    else
        return false;
    return true;
}

void outcome_run(const struct grader *grader, struct sandbox_command *command, judge_fn *judge,
                 struct outcome *outcome)
{
    char confine[PATH_MAX];
    struct sandbox_result result;
    struct fault fault;
    snprintf(confine, sizeof confine, "%s/confine", grader->programs);
    command->bwrap = grader->bwrap;
    command->unprotected = grader->unprotected;
    command->container = grader->container;
    command->confine = confine;
    *outcome = (struct outcome){.kind = OUTCOME_FAILED};
    if (sandbox_run(command, &result, &fault) != 0)
        snprintf(outcome->why, sizeof outcome->why, "%s", fault.text);
    else
        judge(&result, command->outputs, outcome);
    outcome->messages = command->outputs[0].bytes;
    outcome->bytes = command->outputs[1].bytes;
    outcome->size = command->outputs[1].size;
}

void outcome_end(struct outcome *outcome)
{
    free(outcome->bytes);
    free(outcome->messages);
    outcome->bytes = outcome->messages = NULL;
}

/* ---- runs a submission's PTX in the sandbox, by run-lab -------------------------------------- */

/* run-lab needs 0.1 s to 3 s and 300 MB of memory. The number of warp instructions is limited by
 * run-lab itself; these limits hold if a submission breaks out of the emulator. */
static const struct sandbox_limits limits = {
    .address_space = 4ULL << 30,
    .resident = GRADER_JOB_BYTES,
    .scratch = 1 << 20,
    .file = 1 << 20,
    .processes = 16,
    .cpu_seconds = 600,
    .idle_seconds = 120,
    .wall_seconds = 1800,
};
enum { MESSAGES = 1 << 14, RESULT_BYTES = 64 << 20, SIGNAL = 128 };

/* A submission can make run-lab crash or need too long, and so can the machine. */
static void judge_run(const struct sandbox_result *result, struct sandbox_output *outputs,
                      struct outcome *outcome)
{
    const char *text = outputs[0].bytes;
    if (outcome_of_ending(result, text, "the emulator", outcome)) {
        if (result->ending == SANDBOX_WALL) outcome->kind = OUTCOME_DOUBTFUL;
        return;
    }
    outcome->kind = result->status == 0 ? OUTCOME_DONE : OUTCOME_DOUBTFUL;
    if (result->status > SIGNAL)
        snprintf(outcome->why, sizeof outcome->why, "run-lab was ended by signal %d (%s).",
                 result->status - SIGNAL, strsignal(result->status - SIGNAL));
    else if (result->status != 0)
        snprintf(outcome->why, sizeof outcome->why, "run-lab failed: %.*s",
                 (int)strcspn(text, "\n"), text);
}

void grade_run(const struct grader *grader, const char *ptx, struct outcome *outcome)
{
    char run_lab[PATH_MAX], lab[16], seed[32], results[16];
    snprintf(run_lab, sizeof run_lab, "%s/run-lab", grader->programs);
    snprintf(lab, sizeof lab, "%d", grader->lab->number);
    snprintf(seed, sizeof seed, "%" PRIu64, grader->seed);
    snprintf(results, sizeof results, "%d", SANDBOX_RESULTS);
    bool is_bare = grader->unprotected || grader->container != NULL;
    char *program = is_bare ? run_lab : "/run-lab";
    char *file = is_bare ? (char *)ptx : "/lab.ptx";
    char *const arguments[] = {program, lab, file, "--seed", seed, "--results-fd", results, NULL};
    const struct sandbox_mount mounts[] = {{run_lab, "/run-lab", false}, {ptx, "/lab.ptx", false}};
    struct sandbox_output outputs[] = {
        {.descriptor = STDERR_FILENO, .limit = MESSAGES, .drop = true},
        {.descriptor = SANDBOX_RESULTS, .limit = RESULT_BYTES}};
    struct sandbox_command command = {.mounts = mounts,
                                      .mount_count = sizeof mounts / sizeof *mounts,
                                      .arguments = arguments,
                                      .limits = limits,
                                      .outputs = outputs,
                                      .output_count = sizeof outputs / sizeof *outputs};
    outcome_run(grader, &command, judge_run, outcome);
}

/* ---- the step's own solution goes the way of a submission ------------------------------------ */

/*
 * If it cannot be compiled and run, or does not get all points, the fault is the machine's, and
 * nothing is graded.
 */

/* All files of submissions have endings. */
static void solution_path(const struct grader *grader, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/state/solution", PATH_MAX - 32, grader->out);
}

enum { HEAD_BYTES = 32, SOLUTION_BYTES = 8 << 20 };

/* A comment before the PTX. It says what the PTX was made of. */
static void make_head(const struct grader *grader, char head[HEAD_BYTES])
{
    snprintf(head, HEAD_BYTES, "// %016" PRIx64 "\n", grader->solution);
}

bool solution_is_compiled(const struct grader *grader)
{
    char path[PATH_MAX], head[HEAD_BYTES];
    size_t size;
    solution_path(grader, path);
    make_head(grader, head);
    char *text = state_read(path, SOLUTION_BYTES, &size);
    bool is_compiled = text != NULL && strncmp(text, head, strlen(head)) == 0;
    free(text);
    return is_compiled;
}

static int keep(const struct grader *grader, const struct outcome *compiled, struct fault *fault)
{
    char path[PATH_MAX], head[HEAD_BYTES];
    solution_path(grader, path);
    make_head(grader, head);
    size_t length = strlen(head);
    char *text = malloc(length + compiled->size);
    if (text == NULL) abort();
    memcpy(text, head, length);
    memcpy(text + length, compiled->bytes, compiled->size);
    int code = state_write(path, text, length + compiled->size, fault);
    free(text);
    return code;
}

int solution_compile(const struct grader *grader, struct fault *fault)
{
    char source[PATH_MAX];
    struct outcome compiled;
    int code;
    snprintf(source, sizeof source, "%.*s/reference%d.cu", PATH_MAX - 32, grader->programs,
             grader->lab->number);
    if (access(source, R_OK) != 0)
        return fail(fault, EXIT_DEVICE, "%s is missing: `make labs` makes it", source);
    grade_compile(grader, source, &compiled);
    if (compiled.kind == OUTCOME_DONE)
        code = keep(grader, &compiled, fault);
    else
        code = fail(fault, EXIT_DEVICE,
                    "the step's own solution cannot be compiled here, so nothing is graded; look "
                    "at the compiler and at what the sandbox shows of it. %s %.*s",
                    compiled.why, (int)strcspn(compiled.messages, "\n"), compiled.messages);
    outcome_end(&compiled);
    return code;
}

/* Its own results are its own reference. */
static int check(const struct grader *grader, struct fault *fault)
{
    static const double nearly = 1e-9;
    struct lab_verdict *verdict = calloc(1, sizeof *verdict);
    int code = 0;
    if (verdict == NULL) abort();
    if (score_lab(grader->lab, &grader->reference, &grader->reference, &grader->weights, verdict))
        code = fail(fault, EXIT_DEVICE, "the step's own solution: %s", verdict->failure);
    else if (verdict->points < verdict->most - nearly)
        code = fail(fault, EXIT_DEVICE,
                    "the step's own solution gets %.2f of %g points here, so nothing is graded",
                    verdict->points, verdict->most);
    free(verdict);
    return code;
}

int solution_run(struct grader *grader, const char *ptx, struct fault *fault)
{
    char path[PATH_MAX], why[VERDICT_TEXT];
    struct outcome run;
    int code = 0;
    if (ptx == NULL) solution_path(grader, path);
    grade_run(grader, ptx == NULL ? path : ptx, &run);
    if (run.kind != OUTCOME_DONE)
        code = fail(fault, EXIT_DEVICE, "the step's own solution cannot be run: %s", run.why);
    else if (results_read(run.bytes, run.size, &grader->reference, why, sizeof why) != 0)
        code = fail(fault, EXIT_DEVICE, "the step's own solution: %s", why);
    else
        code = check(grader, fault);
    outcome_end(&run);
    return code;
}

/* ---- what a worker process does with one submission ------------------------------------------ */

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

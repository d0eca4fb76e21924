/*
 * check_platform.c — check-lab --format: judges one submission as `make grade` judges each of a
 * class, in a sandbox or, where none can be started, in the container round it.
 */
#define _GNU_SOURCE
#include "check_platform.h"
#include "common/files/files.h"
#include "common/tools/labs/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where no sandbox can be started, says so, and opens `work` to the submission's user. */
static int find_sandbox(struct grader *grader, const char *work, struct fault *fault)
{
    enum { READABLE = 0755, OTHERS_READ = 022 };
    const struct sandbox_command command = {.container = work};
    char confine[PATH_MAX], why[256];
    snprintf(confine, sizeof confine, "%.*s/confine", PATH_MAX - 16, grader->programs);
    if (sandbox_works(grader->bwrap, confine, why, sizeof why)) return 0;
    fprintf(stderr,
            "check-lab: no sandbox can be started (%s), so the container has to protect what is in "
            "it; the submission runs as ",
            why);
    if (sandbox_uid(&command) != 0)
        fprintf(stderr, "uid %u\n", sandbox_uid(&command));
    else
        fputs("this user, since no other uid can be had\n", stderr);
    grader->container = work;
    umask(OTHERS_READ);
    if (chmod(work, READABLE) == 0) return 0;
    return fail(fault, EXIT_DEVICE, "%s cannot be opened to the submission's user", work);
}

static int keep(const char *path, const char *bytes, size_t size, struct fault *fault)
{
    int error = whole_file_write(path, bytes, size);
    if (error == 0) return 0;
    return fail(fault, EXIT_DEVICE, "%s cannot be written: %s", path, strerror(error));
}

/* A machine that fails costs no points. */
static void leave_open(const struct grader *grader, const char *why, struct lab_verdict *verdict)
{
    score_nothing(grader->lab, &grader->weights, "", verdict);
    verdict->status = VERDICT_UNJUDGED;
    snprintf(verdict->failure, sizeof verdict->failure, "%s", why);
}

static void judge_run(struct grader *grader, const char *ptx, struct lab_verdict *verdict)
{
    static struct lab_results results;
    char why[VERDICT_TEXT];
    struct outcome run;
    grade_run(grader, ptx, &run);
    if (run.kind == OUTCOME_REFUSED)
        score_nothing(grader->lab, &grader->weights, run.why, verdict);
    else if (run.kind != OUTCOME_DONE)
        leave_open(grader, run.why, verdict);
    else if (results_read(run.bytes, run.size, &results, why, sizeof why) != 0)
        leave_open(grader, why, verdict);
    else
        score_lab(grader->lab, &results, &grader->reference, &grader->weights, verdict);
    results_free(&results);
    outcome_end(&run);
}

static int judge_source(struct grader *grader, const char *work, const char *solution,
                        struct lab_verdict *verdict, char **messages, struct fault *fault)
{
    char source[PATH_MAX], ptx[PATH_MAX];
    struct outcome compiled;
    snprintf(source, sizeof source, "%.*s/" SOURCE_NAME, PATH_MAX - 16, work);
    snprintf(ptx, sizeof ptx, "%.*s/lab.ptx", PATH_MAX - 16, work);
    grade_compile(grader, source, &compiled);
    int code = 0;
    if (compiled.kind == OUTCOME_FAILED) {
        leave_open(grader, compiled.why, verdict);
    } else if (compiled.kind != OUTCOME_DONE) {
        bool refused = strcmp(compiled.why, COMPILE_REPORTED) == 0;
        score_nothing(grader->lab, &grader->weights,
                      refused ? "It does not compile." : compiled.why, verdict);
    } else {
        code = keep(ptx, compiled.bytes, compiled.size, fault);
        if (code == 0) code = solution_run(grader, solution, fault);
        if (code == 0) judge_run(grader, ptx, verdict);
    }
    *messages = strdup(compiled.messages);
    outcome_end(&compiled);
    results_free(&grader->reference);
    return code;
}

int check_platform(struct grader *grader, const char *path, const char *work, const char *solution,
                   struct lab_verdict *verdict, char **messages, struct fault *fault)
{
    char folder[PATH_MAX], why[FAULT_TEXT], copy[PATH_MAX];
    struct submission submission;
    size_t size;
    *messages = NULL;
    int code = submission_at(path, grader->lab->number, folder, &submission, fault);
    if (code == 0) code = find_sandbox(grader, work, fault);
    if (code != 0) return code;
    char *source = submission_read(folder, &submission, &size, why, sizeof why);
    snprintf(copy, sizeof copy, "%.*s/" SOURCE_NAME, PATH_MAX - 16, work);
    if (source != NULL) code = keep(copy, source, size, fault);
    if (source == NULL)
        score_nothing(grader->lab, &grader->weights, why, verdict);
    else if (code == 0)
        code = judge_source(grader, work, solution, verdict, messages, fault);
    free(source);
    if (*messages == NULL) *messages = strdup("");
    verdict->seed = grader->seed;
    verdict->own_compiler = grader->own_compiler;
    FILE *file = fopen(copy, "r");
    find_gaps(file, verdict);
    if (file) fclose(file);
    return code;
}

/*
 * grade_solution.c — the step's own solution goes the way of a submission. If it cannot be compiled
 * and run, or does not get all points, the fault is the machine's, and nothing is graded.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

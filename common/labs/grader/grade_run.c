/*
 * grade_run.c — runs a submission's PTX in the sandbox, by run-lab.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* run-lab needs 0.1 s to 3 s and 300 MB of memory. The number of warp instructions is limited by
 * run-lab itself; these limits hold if a submission breaks out of the emulator. */
static const struct sandbox_limits limits = {
    .address_space = 4ULL << 30,
    .resident = 2ULL << 30,
    .scratch = 1 << 20,
    .file = 1 << 20,
    .processes = 16,
    .cpu_seconds = 600,
    .idle_seconds = 120,
    .wall_seconds = 1800,
};
enum { MESSAGES = 1 << 14, RESULT_BYTES = 64 << 20, SIGNAL = 128 };

bool outcome_of_ending(const struct sandbox_result *result, const char *text, const char *what,
                       struct outcome *outcome)
{
    enum { RUN_ALONE_FAILED = 125 };
    const char *why = NULL;
    outcome->kind = OUTCOME_REFUSED;
    if (result->ending == SANDBOX_OUTPUT && result->descriptor == SANDBOX_RESULTS)
        why = "leaves more bytes than any solution needs";
    else if (result->ending == SANDBOX_OUTPUT)
        why = "prints too many messages";
    else if (result->ending == SANDBOX_MEMORY)
        why = "needs too much memory";
    else if (result->ending == SANDBOX_IDLE)
        why = "waits for something that never comes";
    if (why != NULL) {
        snprintf(outcome->why, sizeof outcome->why, "With this file, %s %s.", what, why);
        return true;
    }
    outcome->kind = OUTCOME_FAILED;
    if (result->ending == SANDBOX_WALL)
        snprintf(outcome->why, sizeof outcome->why,
                 "The time for %s is over; this machine is too busy or too slow.", what);
    else if (result->ending == SANDBOX_NOT_BEGUN || result->status == RUN_ALONE_FAILED)
        snprintf(outcome->why, sizeof outcome->why, "The sandbox did not start: %.*s",
                 (int)strcspn(text, "\n"), text);
    else
        return false;
    return true;
}

static void judge(const struct sandbox_result *result, const struct sandbox_output *outputs,
                  struct outcome *outcome)
{
    const char *text = outputs[0].bytes;
    if (outcome_of_ending(result, text, "the emulator", outcome)) return;
    outcome->kind = result->status == 0 ? OUTCOME_DONE : OUTCOME_FAILED;
    if (result->status > SIGNAL)
        snprintf(outcome->why, sizeof outcome->why, "run-lab was ended by signal %d (%s).",
                 result->status - SIGNAL, strsignal(result->status - SIGNAL));
    else if (result->status != 0)
        snprintf(outcome->why, sizeof outcome->why, "run-lab failed: %.*s",
                 (int)strcspn(text, "\n"), text);
}

void grade_run(const struct grader *grader, const char *ptx, struct outcome *outcome)
{
    char run_lab[PATH_MAX], confine[PATH_MAX], lab[16], seed[32], results[16];
    snprintf(run_lab, sizeof run_lab, "%s/run-lab", grader->programs);
    snprintf(confine, sizeof confine, "%s/confine", grader->programs);
    snprintf(lab, sizeof lab, "%d", grader->lab->number);
    snprintf(seed, sizeof seed, "%" PRIu64, grader->seed);
    snprintf(results, sizeof results, "%d", SANDBOX_RESULTS);
    char *const arguments[] = {grader->unprotected ? run_lab : "/run-lab",
                               lab,
                               grader->unprotected ? (char *)ptx : "/lab.ptx",
                               "--seed",
                               seed,
                               "--results-fd",
                               results,
                               NULL};
    const struct sandbox_mount mounts[] = {{run_lab, "/run-lab", false}, {ptx, "/lab.ptx", false}};
    struct sandbox_output outputs[] = {
        {.descriptor = STDERR_FILENO, .limit = MESSAGES, .drop = true},
        {.descriptor = SANDBOX_RESULTS, .limit = RESULT_BYTES}};
    struct sandbox_command command = {.bwrap = grader->bwrap,
                                      .unprotected = grader->unprotected,
                                      .confine = confine,
                                      .mounts = mounts,
                                      .mount_count = sizeof mounts / sizeof *mounts,
                                      .arguments = arguments,
                                      .limits = limits,
                                      .outputs = outputs,
                                      .output_count = sizeof outputs / sizeof *outputs};
    struct sandbox_result result;
    struct fault fault;
    *outcome = (struct outcome){.kind = OUTCOME_FAILED};
    if (sandbox_run(&command, &result, &fault) != 0)
        snprintf(outcome->why, sizeof outcome->why, "%s", fault.text);
    else
        judge(&result, outputs, outcome);
    outcome->messages = outputs[0].bytes;
    outcome->bytes = outputs[1].bytes;
    outcome->size = outputs[1].size;
}

void outcome_end(struct outcome *outcome)
{
    free(outcome->bytes);
    free(outcome->messages);
    outcome->bytes = outcome->messages = NULL;
}

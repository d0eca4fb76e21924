/*
 * grade_run.c — runs a submission's PTX in the sandbox, by run-lab.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

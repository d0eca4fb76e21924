/*
 * grade_jobs.c — compiles a submission to PTX in the sandbox.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/labs/compile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct sandbox_limits limits = {
    .address_space = COMPILE_ADDRESSES,
    .resident = GRADER_JOB_BYTES,
    .scratch = 256 << 20,
    .file = COMPILE_FILE,
    .processes = 64,
    .cpu_seconds = COMPILE_SECONDS,
    .idle_seconds = 20,
    .wall_seconds = 300,
};

/* Where common/cc's compiler is, seen from the other programs, and inside. */
#define UPCC        "%.*s/../cc/upcc"
#define UPCC_INSIDE "/upcc"

/* The names of its files, inside or, without a sandbox, outside. */
struct names {
    char source[PATH_MAX], ptx[PATH_MAX], compiler[PATH_MAX + 16];
};

static void name_compiler(const struct grader *grader, char name[PATH_MAX + 16])
{
    if (grader->own_compiler)
        snprintf(name, PATH_MAX + 16, UPCC, PATH_MAX - 1, grader->programs);
    else
        snprintf(name, PATH_MAX + 16, "%s/bin/nvcc", grader->toolkit.folder);
}

static void name_files(const struct grader *grader, const char *source, struct names *names)
{
    if (grader->container != NULL) {
        *names = (struct names){SOURCE_NAME, "scratch/lab.ptx", ""};
        name_compiler(grader, names->compiler);
    } else if (grader->unprotected) {
        snprintf(names->source, sizeof names->source, "%s", source);
        snprintf(names->ptx, sizeof names->ptx, "%.*s.%d.ptx", PATH_MAX - 32, source,
                 (int)getpid());
        name_compiler(grader, names->compiler);
    } else {
        *names = (struct names){SOURCE_INSIDE, "/tmp/lab.ptx", {0}};
        snprintf(names->compiler, sizeof names->compiler, "%s",
                 grader->own_compiler ? UPCC_INSIDE : TOOLKIT_NVCC);
    }
}

/* What a shell says if it cannot start a part of the compiler. */
enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* What the compiler and the limits say about the submission. A process that was killed may have
 * exceeded a limit, or the machine was short of memory. */
static void judge(const struct sandbox_result *result, struct sandbox_output *outputs,
                  struct outcome *outcome)
{
    static const char needs[] = "It does not compile: the compiler needs too much time or memory.";
    bool exited = result->ending == SANDBOX_EXITED;
    bool too_much = result->ending == SANDBOX_MEMORY ||
                    (exited && compile_exceeded(result->status, outputs[0].bytes));
    bool broken = exited && (result->status == NOT_EXECUTABLE || result->status == NOT_FOUND);
    if (!too_much && outcome_of_ending(result, outputs[0].bytes, "the compiler", outcome)) return;
    bool done = exited && result->status == 0 && outputs[1].size > 0;
    outcome->kind = done       ? OUTCOME_DONE
                    : broken   ? OUTCOME_FAILED
                    : too_much ? OUTCOME_DOUBTFUL
                               : OUTCOME_REFUSED;
    if (done) return;
    snprintf(outcome->why, sizeof outcome->why, "%s",
             broken     ? "A part of the compiler cannot be started."
             : too_much ? needs
                        : COMPILE_REPORTED);
    /* Which limit it was, and where, depends on the machine. */
    if (too_much) outputs[0].bytes[0] = '\0';
}

void grade_compile(const struct grader *grader, const char *source, struct outcome *outcome)
{
    struct names names;
    const char *arguments[COMPILE_ARGUMENTS];
    struct sandbox_mount mounts[TOOLKIT_MOUNTS + 2];
    char upcc[PATH_MAX + 16];
    size_t count = grader->toolkit.mount_count; /* 0 with the own compiler */
    memcpy(mounts, grader->toolkit.mounts, count * sizeof *mounts);
    mounts[count++] = (struct sandbox_mount){source, SOURCE_INSIDE, false};
    name_compiler(grader, upcc);
    if (grader->own_compiler) mounts[count++] = (struct sandbox_mount){upcc, UPCC_INSIDE, false};
    name_files(grader, source, &names);
    (grader->own_compiler ? compile_own_arguments : compile_arguments)(names.compiler, names.source,
                                                                       names.ptx, arguments);
    struct sandbox_output outputs[] = {{.descriptor = STDERR_FILENO, .limit = COMPILE_MESSAGES},
                                       {.descriptor = SANDBOX_RESULTS, .limit = GRADER_PTX_BYTES}};
    struct sandbox_command command = {.mounts = mounts,
                                      .mount_count = count,
                                      .arguments = (char *const *)arguments,
                                      .result_file = names.ptx,
                                      .limits = limits,
                                      .outputs = outputs,
                                      .output_count = sizeof outputs / sizeof *outputs};
    outcome_run(grader, &command, judge, outcome);
    if (grader->unprotected) unlink(names.ptx);
}

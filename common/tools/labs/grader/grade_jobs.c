/*
 * grade_jobs.c — the jobs of a class: compiling, and how many at a time.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/harness/print/print.h"
#include "common/tools/labs/compile.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- grade memory ---------------------------------------------------------------------------- */

/*
 * How many submissions can be compiled or run at a time without running short of
 * memory.
 */

/* The number behind a name in a file; false: it does not hold one. A file of one number has no
 * name. */
static bool read_bytes(const char *path, const char *name, uint64_t *bytes)
{
    char line[128];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, name, strlen(name)) == 0 &&
                sscanf(line + strlen(name), "%" SCNu64, bytes) == 1;
    if (file != NULL) fclose(file);
    return found;
}

/* What is left of a limit of a container. */
static uint64_t left_of(const char *limit, const char *used)
{
    uint64_t most, now;
    if (!read_bytes(limit, "", &most) || !read_bytes(used, "", &now)) return UINT64_MAX;
    return most > now ? most - now : 0;
}

/* Bytes of memory that are available. Containers have limits of their own, in files of the second
 * or of the first version of control groups. Their count of used bytes includes the cache of
 * files, so the number of jobs may become lower than it has to be. */
static uint64_t available(void)
{
    uint64_t kibibytes, least = UINT64_MAX;
    if (read_bytes("/proc/meminfo", "MemAvailable:", &kibibytes)) least = kibibytes << 10;
    const uint64_t left[] = {
        left_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        left_of("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] < least) least = left[i];
    return least;
}

unsigned jobs_within(unsigned processors, uint64_t memory)
{
    uint64_t jobs = memory / GRADER_JOB_BYTES;
    if (jobs > processors) jobs = processors;
    return jobs == 0 ? 1 : (unsigned)jobs;
}

unsigned jobs_here(void)
{
    return jobs_within((unsigned)sysconf(_SC_NPROCESSORS_ONLN), available());
}

/* ---- runs the jobs of a class ---------------------------------------------------------------- */

/*
 * Runs the jobs of a class, each in a process of its own: whatever a
 * submission does to its worker, the others are not disturbed.
 */

static pid_t start(const struct grader *grader, const struct submission *submission, job_fn *job)
{
    fflush(stdout);
    pid_t worker = fork();
    if (worker != 0) return worker;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a grader that is killed leaves no workers */
    struct fault fault = {0};
    int code = job(grader, submission, &fault);
    if (code != 0) fault_say(&fault);
    fflush(stderr);
    _exit(code);
}

/* Which job a process has. There may be children that this program has got from its caller. */
static size_t job_of(const pid_t *workers, size_t count, pid_t process)
{
    size_t at = 0;
    while (at < count && workers[at] != process) at++;
    return at;
}

/* Waits for a worker, and returns whether it has failed. */
static bool wait_for_one(const struct submission *submissions, const pid_t *workers, size_t count)
{
    int status = 0;
    size_t at = count;
    while (at == count) {
        pid_t process = wait(&status);
        if (process < 0 && errno != EINTR) return true;
        at = job_of(workers, count, process);
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "grade-labs: %s: the worker was ended by signal %d\n", submissions[at].id,
                WTERMSIG(status));
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

size_t run_jobs(const struct grader *grader, const struct submission *submissions, size_t count,
                const char *label, job_fn *job)
{
    pid_t *workers = calloc(count + 1, sizeof *workers);
    size_t begun = 0, done = 0, failed = 0;
    if (workers == NULL) abort();
    if (!isatty(STDERR_FILENO)) fprintf(stderr, "%s %zu submissions\n", label, count);
    progress_begin(label, count);
    while (done < count) {
        while (begun < count && begun - done < grader->jobs) {
            workers[begun] = start(grader, &submissions[begun], job);
            if (workers[begun] < 0 && begun == done)
                failed++, done++;
            else if (workers[begun] < 0)
                break;
            begun++;
        }
        if (begun == done) continue;
        failed += wait_for_one(submissions, workers, begun);
        progress_at(++done);
    }
    progress_end();
    free(workers);
    return failed;
}

/* ---- compiles a submission to PTX in the sandbox --------------------------------------------- */

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

/* Where common/tools/cc's compiler is, seen from the other programs, and inside. */
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

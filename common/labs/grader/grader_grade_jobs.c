/*
 * grader_grade_jobs.c — runs the jobs of a class, each in a process of its own: whatever a
 * submission does to its worker, the others are not disturbed.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/harness/print/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

#define _GNU_SOURCE
#include "standard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const int descriptors[2] = {STDOUT_FILENO, STDERR_FILENO};

void standard_hold(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0) open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    struct sigaction broken;
    bool is_ignored = sigaction(SIGPIPE, NULL, &broken) == 0 && broken.sa_handler == SIG_IGN;
    if (is_ignored) signal(SIGPIPE, SIG_DFL); /* the caller has ignored it */
}

bool standard_written(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    if (poll(&out, 1, 0) < 1 || !(out.revents & (POLLERR | POLLHUP))) return false;
    signal(SIGPIPE, SIG_DFL);
    return raise(SIGPIPE) != 0;
}

struct standard standard_now(void)
{
    struct standard now;
    for (int i = 0; i < 2; i++)
        now.file[i].is_open = fstat(descriptors[i], &now.file[i].status) == 0;
    return now;
}

static bool is_changed(const struct standard *then, int i, FILE *stream)
{
    struct stat status;
    const struct stat *was = &then->file[i].status;
    if (!then->file[i].is_open) return false;
    if (fileno(stream) != descriptors[i] || fstat(descriptors[i], &status) != 0) return true;
    return status.st_dev != was->st_dev || status.st_ino != was->st_ino;
}

int standard_check(const struct standard *then, struct fault *fault)
{
    static const char *const names[] = {"stdout", "stderr"};
    FILE *const streams[] = {stdout, stderr};
    for (int i = 0; i < 2; i++)
        if (is_changed(then, i, streams[i]))
            return fail(fault, EXIT_USAGE,
                        "%s was redirected while the program ran, and the report may be lost; a "
                        "scan has to leave it alone.",
                        names[i]);
    return 0;
}

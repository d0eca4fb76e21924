#define _GNU_SOURCE
#include "standard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

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

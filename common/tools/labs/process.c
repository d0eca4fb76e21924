/* process.c — runs a program and waits for it. */
#define _POSIX_C_SOURCE 200809L
#include "compile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127, BY_SIGNAL = 128, LOG_MODE = 0644 };

static void become(const char *const *argv, const char *log)
{
    int fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, LOG_MODE) : -1;
    if (log && (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0))
        _exit(NOT_STARTED);
    if (fd > STDERR_FILENO) close(fd);
    execvp(argv[0], (char *const *)argv);
    _exit(NOT_STARTED);
}

static bool limit_compiler(void)
{
    static const struct {
        int what;
        rlim_t most;
    } limits[] = {{RLIMIT_AS, COMPILE_ADDRESSES},
                  {RLIMIT_CPU, COMPILE_SECONDS},
                  {RLIMIT_FSIZE, COMPILE_FILE},
                  {RLIMIT_CORE, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (setrlimit(limits[i].what, &(struct rlimit){limits[i].most, limits[i].most}) != 0)
            return false;
    return true;
}

static int run(const char *const *argv, const char *log, bool limited)
{
    int status;
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0 && limited && !limit_compiler()) _exit(NOT_STARTED);
    if (child == 0) become(argv, log);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_program(const char *const *argv, const char *log) { return run(argv, log, false); }

int run_compiler(const char *const *argv, const char *log) { return run(argv, log, true); }

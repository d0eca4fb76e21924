/* compile.c — how a lab is compiled, and what messages of nvcc mean; running programs. */
#define _POSIX_C_SOURCE 200809L
#include "score.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127, BY_SIGNAL = 128, LOG_MODE = 0644 };

void compile_arguments(const char *nvcc, const char *source, const char *ptx,
                       const char *argv[COMPILE_ARGUMENTS])
{
    /* -lineinfo: findings and counters name lines. 177 and 550: gaps leave variables unused. */
    const char *const all[] = {
        nvcc,   "-ptx", "-O3", "-lineinfo", "-arch=compute_90", "-diag-suppress=177,550",
        source, "-o",   ptx,   NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) argv[i] = all[i];
}

void compile_own_arguments(const char *upcc, const char *source, const char *ptx,
                           const char *argv[COMPILE_ARGUMENTS])
{
    const char *const all[] = {upcc, source, "-o", ptx, NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) argv[i] = all[i];
}

bool compile_exceeded(int code, const char *messages)
{
    enum { LAST_SIGNAL = 64 };
    static const char *const signs[] = {"died due to signal", "limit exceeded", "out of memory",
                                        "Killed"};
    if (code > BY_SIGNAL && code <= BY_SIGNAL + LAST_SIGNAL) return true;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(messages, signs[i]) != NULL) return true;
    return false;
}

/* ---- running programs ------------------------------------------------------------------------ */

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

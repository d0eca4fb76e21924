/* sandbox.c — runs a command in bubblewrap, with limits. Its command line is made in
 * sandbox_line.c. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the parent, the ends of the pipes that it reads: the outputs, then BEGUN and INFO. */
enum { BEGUN = SANDBOX_OUTPUTS, INFO, PIPES };
enum { BLOCK = 1 << 16, TICK_MS = 50, INFO_SIZE = 256, EXEC_FAILED = 127 };

struct running {
    const struct sandbox_command *command;
    struct sandbox_result *result;
    pid_t bwrap;      /* 0: has ended */
    int init;         /* a descriptor of the sandbox's first process; -1: not known yet */
    int pipes[PIPES]; /* -1: closed */
    bool begun, killed;
    char info[INFO_SIZE]; /* what bwrap says about the sandbox */
    size_t info_size;
    double end;        /* when limits.wall_seconds are over */
    double idle_since; /* when the tree last used or wanted the processor */
    uint64_t ticks;    /* that it had used then */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- the child ------------------------------------------------------------------------------ */

/* Moves the pipes' writing ends to the descriptors that the command expects. They are first moved
 * out of the way of each other. Without an output for it, 1 and 2 are /dev/null, as is 0. */
static void place_descriptors(const struct sandbox_command *command, const int *ends)
{
    enum { ASIDE = 64, LAST_STANDARD = 2 };
    int aside[PIPES];
    for (int i = 0; i < PIPES; i++) aside[i] = ends[i] < 0 ? -1 : fcntl(ends[i], F_DUPFD, ASIDE);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i <= LAST_STANDARD; i++) dup2(null, i);
    for (size_t i = 0; i < command->output_count; i++)
        dup2(aside[i], command->outputs[i].descriptor);
    dup2(aside[BEGUN], SANDBOX_BEGUN);
    dup2(aside[INFO], SANDBOX_INFO);
    for (int i = SANDBOX_RESULTS; i < SANDBOX_BEGUN; i++) {
        bool used = false;
        for (size_t k = 0; k < command->output_count; k++)
            used = used || command->outputs[k].descriptor == i;
        if (!used) close(i);
    }
    close_range(SANDBOX_INFO + 1, ~0U, 0);
}

/* The process of bwrap. A caller's ignored or blocked signals would be inherited. */
__attribute__((noreturn)) static void become_bwrap(const struct sandbox_command *command,
                                                   char **line, const int *ends)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (sandbox_is_bare(command)) setsid();
    place_descriptors(command, ends);
    if (command->container != NULL) container_enter(command);
    execvp(line[0], line);
    dprintf(STDERR_FILENO, "%s: %s\n", line[0], strerror(errno));
    _exit(EXEC_FAILED);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void stop(struct running *run, enum sandbox_ending ending)
{
    if (!run->killed) run->result->ending = ending;
    run->killed = true;
    if (run->bwrap <= 0) return;
    /* All processes of the sandbox end with it: --die-with-parent. Without bubblewrap, those of its
     * session end. */
    kill(sandbox_is_bare(run->command) ? -run->bwrap : run->bwrap, SIGKILL);
}

static void keep(struct running *run, struct sandbox_output *output, const char *block, size_t size)
{
    size_t room = output->limit - output->size;
    size_t kept = size < room ? size : room;
    char *bytes = realloc(output->bytes, output->size + kept + 1);
    if (bytes == NULL) abort();
    output->bytes = bytes;
    memcpy(bytes + output->size, block, kept);
    output->size += kept;
    bytes[output->size] = '\0';
    if (kept == size || output->drop) return;
    if (!run->killed) run->result->descriptor = output->descriptor;
    stop(run, SANDBOX_OUTPUT);
}

/* bwrap writes a line of JSON with "child-pid": 123, the sandbox's first process. */
static void take_info(struct running *run, const char *block, size_t size)
{
    size_t room = sizeof run->info - 1 - run->info_size;
    size_t kept = size < room ? size : room;
    memcpy(run->info + run->info_size, block, kept);
    run->info_size += kept;
    run->info[run->info_size] = '\0';
    const char *pid = strstr(run->info, "\"child-pid\": ");
    if (run->init >= 0 || pid == NULL || strchr(pid, '\n') == NULL) return;
    run->init = (int)syscall(SYS_pidfd_open, atoi(pid + strlen("\"child-pid\": ")), 0);
}

static void read_pipe(struct running *run, int which)
{
    char block[BLOCK];
    ssize_t got = read(run->pipes[which], block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        close(run->pipes[which]);
        run->pipes[which] = -1;
    } else if (which == BEGUN) {
        run->begun = true;
    } else if (which == INFO) {
        take_info(run, block, (size_t)got);
    } else {
        keep(run, &run->command->outputs[which], block, (size_t)got);
    }
}

/* Waits for a moment, or until something can be read; closed pipes are -1, which poll() skips.
 * Returns whether a pipe is open. */
static bool read_some(struct running *run, int milliseconds)
{
    struct pollfd ready[PIPES];
    bool open = false;
    for (int i = 0; i < PIPES; i++) {
        ready[i] = (struct pollfd){.fd = run->pipes[i], .events = POLLIN};
        open = open || run->pipes[i] >= 0;
    }
    if (!open && milliseconds < 0) return false;
    if (poll(ready, PIPES, milliseconds) <= 0) return open;
    for (int i = 0; i < PIPES; i++)
        if (ready[i].revents != 0) read_pipe(run, i);
    return open;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void check_limits(struct running *run)
{
    const struct sandbox_limits *limits = &run->command->limits;
    struct tree_usage usage = process_tree_usage(run->bwrap);
    if (usage.active > 0 || usage.ticks != run->ticks) run->idle_since = now();
    run->ticks = usage.ticks;
    if (usage.resident > limits->resident)
        stop(run, SANDBOX_MEMORY);
    else if (now() > run->idle_since + limits->idle_seconds)
        stop(run, SANDBOX_IDLE);
    else if (now() > run->end)
        stop(run, SANDBOX_WALL);
}

/* The kernel ends the sandbox's processes with its first one, and that one last. Its descriptor can
 * be read when it has ended. */
static void wait_for_tree(struct running *run)
{
    struct pollfd ended = {.fd = run->init, .events = POLLIN};
    if (run->init < 0) return;
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
    close(run->init);
}

/* Waits for bwrap, then for the tree, then for the rest of what the tree has written. */
static void wait_for_end(struct running *run)
{
    int status = 0;
    double checked = now();
    while (waitpid(run->bwrap, &status, WNOHANG) == 0) {
        read_some(run, TICK_MS);
        if (run->killed || now() - checked < TICK_MS * 1e-3) continue;
        check_limits(run);
        checked = now();
    }
    run->bwrap = 0;
    read_some(run, 0); /* what bwrap may have said of its first process */
    wait_for_tree(run);
    if (run->command->container != NULL) container_end(run->command);
    while (read_some(run, -1)) continue;
    if (run->killed) return;
    run->result->ending = run->begun ? SANDBOX_EXITED : SANDBOX_NOT_BEGUN;
    run->result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- starting ------------------------------------------------------------------------------- */

static void close_all(int *ends)
{
    for (int i = 0; i < PIPES; i++)
        if (ends[i] >= 0) close(ends[i]);
}

/* A pipe for each output, and those of BEGUN and INFO. Returns 0 or an errno. */
static int open_pipes(const struct sandbox_command *command, int *reading, int *writing)
{
    for (int i = 0; i < PIPES; i++) reading[i] = writing[i] = -1;
    for (int i = 0; i < PIPES; i++) {
        int both[2];
        if (i < BEGUN && (size_t)i >= command->output_count) continue;
        if (pipe2(both, O_CLOEXEC) != 0) return errno;
        reading[i] = both[0];
        writing[i] = both[1];
    }
    return 0;
}

static int start(struct running *run, char **line, struct fault *fault)
{
    int writing[PIPES];
    int error = open_pipes(run->command, run->pipes, writing);
    run->bwrap = error != 0 ? -1 : fork();
    if (run->bwrap == 0) become_bwrap(run->command, line, writing);
    if (error == 0 && run->bwrap < 0) error = errno;
    close_all(writing);
    if (error == 0) return 0;
    close_all(run->pipes);
    return fail(fault, EXIT_DEVICE, "no process can be started for the sandbox: %s",
                strerror(error));
}

int sandbox_run(const struct sandbox_command *command, struct sandbox_result *result,
                struct fault *fault)
{
    struct running run = {.command = command, .result = result, .init = -1};
    *result = (struct sandbox_result){.ending = SANDBOX_NOT_BEGUN};
    for (size_t i = 0; i < command->output_count; i++) {
        command->outputs[i].bytes = calloc(1, 1);
        command->outputs[i].size = 0;
        if (command->outputs[i].bytes == NULL) abort();
    }
    char **line = sandbox_line(command);
    int error = command->container == NULL ? 0 : container_begin(command);
    int code = error == 0 ? start(&run, line, fault)
                          : fail(fault, EXIT_DEVICE, "%s/scratch cannot be made: %s",
                                 command->container, strerror(error));
    run.idle_since = now();
    run.end = run.idle_since + command->limits.wall_seconds;
    if (code == 0)
        wait_for_end(&run);
    else if (command->container != NULL && error == 0)
        container_end(command);
    sandbox_line_end(line);
    return code;
}

void sandbox_end(struct sandbox_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(outputs[i].bytes);
        outputs[i].bytes = NULL;
    }
}

/* ---- does it work here? ---------------------------------------------------------------------- */

bool sandbox_works(const char *bwrap, const char *confine, char *why, size_t size)
{
    enum { MESSAGE = 4096 };
    /* confine without arguments exits with its own failure: that is a program that has run. */
    char *const arguments[] = {"/confine", NULL};
    struct sandbox_output output = {.descriptor = STDERR_FILENO, .limit = MESSAGE};
    struct sandbox_command command = {.bwrap = bwrap,
                                      .confine = confine,
                                      .arguments = arguments,
                                      .limits = {1 << 30, 1 << 30, 1 << 20, 1 << 20, 8, 10, 60, 60},
                                      .outputs = &output,
                                      .output_count = 1};
    struct sandbox_result result;
    struct fault fault;
    why[0] = '\0';
    if (!process_tree_works()) {
        snprintf(why, size,
                 "/proc does not show the children of a process, so limits could not be watched");
        return false;
    }
    if (sandbox_run(&command, &result, &fault) != 0)
        snprintf(why, size, "%s", fault.text);
    else if (result.ending != SANDBOX_EXITED)
        snprintf(why, size, "%.*s", (int)strcspn(output.bytes, "\n"), output.bytes);
    sandbox_end(&output, 1);
    return why[0] == '\0' && result.ending == SANDBOX_EXITED;
}

/*
 * sandbox.c — runs a command in bubblewrap, with limits, and what it sees there.
 */
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the command line of bubblewrap: what a command in the sandbox sees ---------------------- */

/* Uids that systemd's list of uids leaves unused: 60706 to 61183. Each process of root that starts
 * sandboxes gets one of them for itself, because the kernel counts processes by uid. */
enum { FIRST_UID = 60706, UIDS = 478 };

#define CONFINE_INSIDE "/confine"

struct line {
    char **words;
    size_t count, room;
};

/* Appends a word made as by printf. Without memory there is nothing sensible left to do. */
__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    if (line->count + 1 >= line->room) {
        line->room = line->room == 0 ? 64 : 2 * line->room;
        line->words = realloc(line->words, line->room * sizeof *line->words);
        if (line->words == NULL) abort();
    }
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line->words[line->count], format, arguments) < 0) abort();
    va_end(arguments);
    line->words[++line->count] = NULL;
}

static void add_all(struct line *line, const char *const *words)
{
    for (; *words != NULL; words++) add(line, "%s", *words);
}

/* A folder inside. The folders that bubblewrap makes on its way to a mount are for root only. */
static void add_folder(struct line *line, const char *path, int length)
{
    add(line, "--perms");
    add(line, "0755");
    add(line, "--dir");
    add(line, "%.*s", length, path);
}

static void add_parents(struct line *line, const char *path)
{
    for (const char *end = path; (end = strchr(end + 1, '/')) != NULL;)
        add_folder(line, path, (int)(end - path));
}

static void add_mount(struct line *line, const char *from, const char *to)
{
    add(line, "--ro-bind");
    add(line, "%s", from);
    add(line, "%s", to);
}

static void add_empty(struct line *line, const char *path)
{
    const char *const words[] = {"--tmpfs", path, "--remount-ro", path, NULL};
    add_all(line, words);
}

/* /lib, /lib64, /bin: links into /usr on systems of today, folders on older ones. */
static void add_system_folder(struct line *line, const char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    struct stat status;
    if (length > 0) {
        target[length] = '\0';
        add(line, "--symlink");
        add(line, "%s", target);
        add(line, "%s", path);
    } else if (stat(path, &status) == 0) {
        add_mount(line, path, path);
    }
}

/* All folders come before all mounts, since no folder can be made in a mount. */
static void add_folders(struct line *line, const struct sandbox_command *command)
{
    static const char *const own[] = {"/usr/lib", "/dev/null", "/etc/ld.so.cache", NULL};
    for (const char *const *path = own; *path != NULL; path++) add_parents(line, *path);
    for (size_t i = 0; i < command->mount_count; i++) add_parents(line, command->mounts[i].to);
}

static void add_mounts(struct line *line, const struct sandbox_command *command)
{
    add_folders(line, command);
    add_mount(line, "/usr/lib", "/usr/lib");
    add_system_folder(line, "/lib");
    if (access("/usr/lib64", F_OK) == 0) add_mount(line, "/usr/lib64", "/usr/lib64");
    add_system_folder(line, "/lib64");
    if (access("/etc/ld.so.cache", R_OK) == 0)
        add_mount(line, "/etc/ld.so.cache", "/etc/ld.so.cache");
    add_mount(line, command->confine, CONFINE_INSIDE);
    for (size_t i = 0; i < command->mount_count; i++) {
        const struct sandbox_mount *mount = &command->mounts[i];
        if (mount->from == NULL)
            add_empty(line, mount->to);
        else if (!mount->may_be_missing || access(mount->from, F_OK) == 0)
            add_mount(line, mount->from, mount->to);
    }
}

/* Only /tmp can be written to, and its size is limited. bubblewrap's own root folder lies in memory
 * without a limit: it becomes read-only at last. */
static void add_view(struct line *line, const struct sandbox_command *command)
{
    static const char *const devices[] = {
        "--dev-bind",   "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom",
        "/dev/urandom", "--perms",   "1777",      "--size",     NULL};
    static const char *const rest[] = {
        "--tmpfs",  "/tmp", "--remount-ro", "/",        "--chdir", "/tmp",     "--clearenv",
        "--setenv", "PATH", "/usr/bin",     "--setenv", "TMPDIR",  "/tmp",     "--setenv",
        "HOME",     "/tmp", "--setenv",     "LC_ALL",   "C.UTF-8", "--setenv", "SOURCE_DATE_EPOCH",
        "0",        NULL};
    add_mounts(line, command);
    add_all(line, devices);
    add(line, "%" PRIu64, command->limits.scratch);
    add_all(line, rest);
}

/* As root, bubblewrap keeps the two capabilities that confine needs to give up uid 0. Otherwise it
 * makes a user namespace, where the caller's uid stays. */
static void add_user(struct line *line)
{
    static const char *const root[] = {"--cap-drop", "ALL",        "--cap-add", "CAP_SETUID",
                                       "--cap-add",  "CAP_SETGID", NULL};
    if (geteuid() == 0)
        add_all(line, root);
    else
        add(line, "--unshare-user");
}

/* Takes a uid for as long as this process lives. A socket's name without a file serves as the lock:
 * the kernel lets one process at a time have it, and frees it with the process. Returns false if
 * another process has the uid. */
static bool take_uid(unsigned uid)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int lock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "upsweep-uid-%u", uid);
    if (lock >= 0 && bind(lock, (struct sockaddr *)&name, sizeof name) == 0) return true;
    if (lock >= 0) close(lock);
    return false;
}

/* The uid of this process's sandboxes, of which one runs at a time. If all are taken, processes of
 * two sandboxes count together. */
static unsigned own_uid(void)
{
    static pid_t owner;
    static unsigned uid;
    unsigned first = (unsigned)getpid() % UIDS, tries = 0;
    if (geteuid() != 0) return 0;
    if (owner == getpid()) return uid;
    owner = getpid();
    do uid = FIRST_UID + (first + tries) % UIDS;
    while (!take_uid(uid) && ++tries < UIDS);
    return uid;
}

/* Is it a command without bubblewrap? */
static bool sandbox_is_bare(const struct sandbox_command *command)
{
    return command->unprotected || command->container != NULL;
}

/* Root in a user namespace may have no other uid. */
static bool can_change_uid(unsigned uid)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) _exit(setresuid(uid, uid, uid) != 0);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status == 0;
}

unsigned sandbox_uid(const struct sandbox_command *command)
{
    if (command->unprotected) return 0;
    unsigned uid = own_uid();
    return command->container == NULL || uid == 0 || can_change_uid(uid) ? uid : 0;
}

/* The arguments of confine.c, in the order that it expects. */
static void add_limits(struct line *line, const struct sandbox_command *command)
{
    const struct sandbox_limits *limits = &command->limits;
    unsigned uid = sandbox_uid(command);
    bool counts = uid != 0 || !sandbox_is_bare(command); /* only the command's own processes */
    bool results = false;
    for (size_t i = 0; i < command->output_count; i++)
        results = results || command->outputs[i].descriptor == SANDBOX_RESULTS;
    add(line, "%s", sandbox_is_bare(command) ? command->confine : CONFINE_INSIDE);
    add(line, "%u", uid);
    add(line, "%" PRIu64, limits->address_space);
    add(line, "%" PRIu64, limits->file);
    add(line, "%u", counts ? limits->processes : 0);
    add(line, "%u", limits->cpu_seconds);
    add(line, "%d", results ? SANDBOX_RESULTS : 0);
    add(line, "%s", command->result_file == NULL ? "" : command->result_file);
}

/* All of bubblewrap's own words. */
static void add_bwrap(struct line *line, const struct sandbox_command *command)
{
    static const char *const apart[] = {
        "--unshare-ipc",        "--unshare-pid", "--unshare-net",     "--unshare-uts",
        "--unshare-cgroup-try", "--new-session", "--die-with-parent", NULL};
    add(line, "%s", command->bwrap == NULL ? "bwrap" : command->bwrap);
    add_all(line, apart);
    add_user(line);
    add(line, "--info-fd");
    add(line, "%d", SANDBOX_INFO);
    add_view(line, command);
    add(line, "--");
}

char **sandbox_line(const struct sandbox_command *command)
{
    struct line line = {0};
    if (!sandbox_is_bare(command)) add_bwrap(&line, command);
    add_limits(&line, command);
    for (char *const *word = command->arguments; *word != NULL; word++) add(&line, "%s", *word);
    return line.words;
}

static void sandbox_line_end(char **line)
{
    for (char **word = line; word != NULL && *word != NULL; word++) free(*word);
    free(line);
}

/* ---- runs a command in bubblewrap, with limits ----------------------------------------------- */

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

/* ---- the child ------------------------------------------------------------------------------- */

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

/* ---- reading --------------------------------------------------------------------------------- */

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

/* ---- waiting --------------------------------------------------------------------------------- */

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

/* ---- starting -------------------------------------------------------------------------------- */

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

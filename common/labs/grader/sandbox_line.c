/*
 * sandbox_line.c — the command line of bubblewrap: what a command in the sandbox sees.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool sandbox_is_bare(const struct sandbox_command *command)
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

void sandbox_line_end(char **line)
{
    for (char **word = line; word != NULL && *word != NULL; word++) free(*word);
    free(line);
}

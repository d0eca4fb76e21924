/*
 * grader_container.c — a command in a container that holds one submission: what bubblewrap would do
 * for its folder, its environment and its processes, as far as it can be done without it.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void scratch_of(const struct sandbox_command *command, char path[CONTAINER_PATH])
{
    snprintf(path, CONTAINER_PATH, "%s/scratch", command->container);
}

/* A process whose parent ends becomes a child of this process, which can then end it. */
int container_begin(const struct sandbox_command *command)
{
    enum { OWNER_ONLY = 0700 };
    char path[CONTAINER_PATH];
    unsigned uid = sandbox_uid(command);
    scratch_of(command, path);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return errno;
    if (mkdir(path, OWNER_ONLY) != 0) return errno;
    return uid == 0 || chown(path, uid, uid) == 0 ? 0 : errno;
}

void container_enter(const struct sandbox_command *command)
{
    char path[CONTAINER_PATH];
    scratch_of(command, path);
    bool is_done = chdir(command->container) == 0 && clearenv() == 0 &&
                   setenv("PATH", "/usr/bin:/bin", 1) == 0 && setenv("TMPDIR", path, 1) == 0 &&
                   setenv("HOME", path, 1) == 0 && setenv("LC_ALL", "C.UTF-8", 1) == 0 &&
                   setenv("SOURCE_DATE_EPOCH", "0", 1) == 0;
    if (!is_done) _exit(EXIT_FAILURE);
}

/* Ends all processes of a uid at once, so that none of them can start another one meanwhile. Such a
 * process may end the child that does it, which is then tried again. */
static void end_processes_of(unsigned uid)
{
    for (int status = -1; status != 0;) {
        pid_t child = fork();
        if (child == 0)
            _exit(setresuid(uid, uid, uid) != 0 || (kill(-1, SIGKILL) != 0 && errno != ESRCH));
        if (child < 0 && errno != EAGAIN) return;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
}

/* What lost its parent has become a child of this process: container_begin(). */
static void end_children(void)
{
    enum { TRIES = 1000 };
    static const struct timespec pause = {.tv_nsec = 1000000};
    char path[CONTAINER_PATH];
    int child;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int i = 0; i < TRIES; i++) {
        FILE *children = fopen(path, "re");
        while (children != NULL && fscanf(children, "%d", &child) == 1) kill(child, SIGKILL);
        if (children != NULL) fclose(children);
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno == ECHILD) return;
        if (ended == 0) nanosleep(&pause, NULL);
    }
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path) != 0 && errno != ENOENT;
}

void container_end(const struct sandbox_command *command)
{
    enum { OPEN = 16 };
    char path[CONTAINER_PATH];
    unsigned uid = sandbox_uid(command);
    if (uid != 0) end_processes_of(uid);
    end_children();
    scratch_of(command, path);
    nftw(path, remove_entry, OPEN, FTW_DEPTH | FTW_PHYS);
}

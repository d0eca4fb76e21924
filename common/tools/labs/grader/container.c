/*
 * container.c — around a command: a container, the toolkit, what its processes use.
 */
#define _GNU_SOURCE
#include "sandbox.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a command in a container that holds one submission -------------------------------------- */

/*
 * A command in a container that holds one submission: what bubblewrap would do
 * for its folder, its environment and its processes, as far as it can be done without it.
 */

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

/* ---- finds what nvcc needs in the sandbox ---------------------------------------------------- */

/* Headers that a lab may include: those of the language and of the runtime. CUB, Thrust and
 * cooperative_groups/scan.h would do the lab's work; libraries for the host are of no use. */
static const char *const headers[] = {
    "builtin_types.h",
    "channel_descriptor.h",
    "common_functions.h",
    "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h",
    "cooperative_groups/details/async.h",
    "cooperative_groups/details/driver_abi.h",
    "cooperative_groups/details/functional.h",
    "cooperative_groups/details/helpers.h",
    "cooperative_groups/details/info.h",
    "cooperative_groups/details/invoke.h",
    "cooperative_groups/details/memory.h",
    "cooperative_groups/details/partitioning.h",
    "cooperative_groups/details/sync.h",
    "crt",
    "cuComplex.h",
    "cuda.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_helpers.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_pipeline.h",
    "cuda_pipeline_helpers.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_stdint.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "driver_functions.h",
    "driver_types.h",
    "host_config.h",
    "host_defines.h",
    "library_types.h",
    "math_constants.h",
    "math_functions.h",
    "mma.h",
    "nv",
    "cccl/cuda",
    "cccl/nv",
    "sm_20_atomic_functions.h",
    "sm_20_atomic_functions.hpp",
    "sm_20_intrinsics.h",
    "sm_20_intrinsics.hpp",
    "sm_30_intrinsics.h",
    "sm_30_intrinsics.hpp",
    "sm_32_atomic_functions.h",
    "sm_32_atomic_functions.hpp",
    "sm_32_intrinsics.h",
    "sm_32_intrinsics.hpp",
    "sm_35_atomic_functions.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_60_atomic_functions.hpp",
    "sm_61_intrinsics.h",
    "sm_61_intrinsics.hpp",
    "surface_indirect_functions.h",
    "surface_types.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "vector_functions.h",
    "vector_functions.hpp",
    "vector_types.h",
};

/* Folders that a package of the system may have put beside the C library's headers. */
static const char *const hidden[] = {"/usr/include/cub", "/usr/include/thrust"};

static void add(struct toolkit *toolkit, const char *from, const char *to)
{
    if (toolkit->mount_count == TOOLKIT_MOUNTS) abort();
    size_t at = toolkit->mount_count++;
    snprintf(toolkit->paths[at][0], PATH_MAX, "%s", from);
    snprintf(toolkit->paths[at][1], PATH_MAX, "%s", to);
    toolkit->mounts[at] =
        (struct sandbox_mount){toolkit->paths[at][0], toolkit->paths[at][1], true};
}

/* A file of the toolkit, which is at /cuda inside. */
static void add_own(struct toolkit *toolkit, const char *folder, const char *name)
{
    char from[2 * PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%s%s%s", toolkit->folder, folder, name);
    snprintf(to, sizeof to, "/cuda%s%s", folder, name);
    add(toolkit, from, to);
}

static void add_hidden(struct toolkit *toolkit, const char *path)
{
    if (access(path, F_OK) != 0) return;
    add(toolkit, "", path);
    toolkit->mounts[toolkit->mount_count - 1].from = NULL;
}

static void add_all(struct toolkit *toolkit)
{
    static const char *const system[] = {"/usr/include", "/usr/libexec/gcc"};
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) add(toolkit, system[i], system[i]);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) add_hidden(toolkit, hidden[i]);
    add(toolkit, toolkit->gcc, "/usr/bin/gcc");
    add(toolkit, toolkit->shell, "/bin/sh");
    add(toolkit, toolkit->shell, "/usr/bin/sh");
    add_own(toolkit, "/bin", "");
    add_own(toolkit, "/nvvm", "");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        add_own(toolkit, "/include/", headers[i]);
}

/* The real path of a program that is searched for in PATH. */
static bool find_program(const char *name, char real[PATH_MAX])
{
    const char *path = getenv("PATH");
    char *folders = strdup(path == NULL ? "/usr/bin:/bin" : path);
    bool found = false;
    for (char *rest = folders, *folder; !found && (folder = strsep(&rest, ":")) != NULL;) {
        char program[PATH_MAX];
        int length = snprintf(program, sizeof program, "%s/%s", folder, name);
        found = length < PATH_MAX && access(program, X_OK) == 0 && realpath(program, real) != NULL;
    }
    free(folders);
    return found;
}

/* nvcc stands in the folder bin of its toolkit. */
static bool find_toolkit(struct toolkit *toolkit, const char *nvcc)
{
    char real[PATH_MAX];
    if (strchr(nvcc, '/') == NULL ? !find_program(nvcc, real) : realpath(nvcc, real) == NULL)
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    memcpy(toolkit->folder, real, sizeof real);
    return true;
}

int toolkit_find(struct toolkit *toolkit, const char *nvcc, struct fault *fault)
{
    toolkit->mount_count = 0;
    if (!find_toolkit(toolkit, nvcc))
        return fail(fault, EXIT_DEVICE, "there is no compiler %s: make setup installs one", nvcc);
    if (!find_program("gcc", toolkit->gcc) || !find_program("sh", toolkit->shell))
        return fail(fault, EXIT_DEVICE, "gcc or sh is not found in PATH: make setup installs gcc");
    add_all(toolkit);
    return 0;
}

/* ---- adds up what a process and all its descendants use, from /proc -------------------------- */

/* Deeper trees are not followed: each level holds a process, and their number is limited. */
enum { DEEPEST = 128, PATH_SIZE = 64, STAT_SIZE = 1024 };

static void add_resident(pid_t process, struct tree_usage *sum)
{
    char path[PATH_SIZE];
    uint64_t pages;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    if (fscanf(file, "%*u %" SCNu64, &pages) == 1)
        sum->resident += pages * (uint64_t)sysconf(_SC_PAGESIZE);
    fclose(file);
}

/* The name of a thread stands in parentheses and may hold any bytes, so the last ) ends it. */
static void add_thread(const char *folder, const char *thread, struct tree_usage *sum)
{
    char path[2 * PATH_SIZE], text[STAT_SIZE], state;
    uint64_t user, system;
    snprintf(path, sizeof path, "%s/%.16s/stat", folder, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &state,
               &user, &system) != 3)
        return;
    sum->ticks += user + system;
    sum->active += state == 'R' || state == 'D';
}

static void add_below(pid_t process, int depth, struct tree_usage *sum);

/* The children that one thread of a process has started. */
static void add_children(const char *folder, const char *thread, int depth, struct tree_usage *sum)
{
    char path[2 * PATH_SIZE];
    int child;
    snprintf(path, sizeof path, "%s/%.16s/children", folder, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fscanf(file, "%d", &child) == 1) add_below(child, depth + 1, sum);
    fclose(file);
}

static void add_below(pid_t process, int depth, struct tree_usage *sum)
{
    char folder[PATH_SIZE];
    if (depth > DEEPEST) return;
    add_resident(process, sum);
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)process);
    DIR *threads = opendir(folder);
    if (threads == NULL) return;
    sum->processes++;
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        if (thread->d_name[0] == '.') continue;
        add_thread(folder, thread->d_name, sum);
        add_children(folder, thread->d_name, depth, sum);
    }
    closedir(threads);
}

struct tree_usage process_tree_usage(pid_t root)
{
    struct tree_usage sum = {0};
    add_below(root, 0, &sum);
    return sum;
}

bool process_tree_works(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    if (child < 0) return false;
    struct tree_usage usage = process_tree_usage(getpid());
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return usage.processes >= 2 && usage.resident > 0;
}

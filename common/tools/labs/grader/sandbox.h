/*
 * sandbox.h — runs a command that reads what a student has written, in bubblewrap.
 *
 * The command sees no network, no process outside, and no file except the mounts that are named
 * here, a private /tmp, /dev/null and /dev/urandom. There is no /proc, which names files outside.
 * The command is not uid 0, also if the caller is: then it gets a uid that nothing else uses.
 * bubblewrap (bwrap) limits nothing but what is visible; the program `confine`, which starts the
 * command inside, sets the limits of a process, and sandbox_run() watches those of the whole tree.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include "common/files/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file or a folder of ours that the command may read, and where it finds it. */
struct sandbox_mount {
    const char *from; /* NULL: `to` becomes an empty folder, which hides what is there otherwise */
    const char *to;
    bool may_be_missing; /* a mount of a file that does not exist is left out */
};

/* Bytes that the command writes to a descriptor. The first `limit` bytes are kept. A command that
 * writes more is ended, unless the rest is dropped. */
struct sandbox_output {
    int descriptor; /* in the command: 1, 2, or SANDBOX_RESULTS */
    size_t limit;
    bool drop;
    char *bytes; /* filled by sandbox_run(), with a NUL behind; freed by sandbox_end() */
    size_t size;
};

enum { SANDBOX_RESULTS = 3, SANDBOX_OUTPUTS = 3 };

/* No field may be 0. */
struct sandbox_limits {
    uint64_t address_space; /* bytes of addresses of each process (RLIMIT_AS) */
    uint64_t resident;      /* bytes of memory of all processes together */
    uint64_t scratch;       /* bytes in /tmp, which is also in memory */
    uint64_t file;          /* bytes of each file (RLIMIT_FSIZE) */
    unsigned processes;     /* processes and threads at any time (RLIMIT_NPROC) */
    unsigned cpu_seconds;   /* processor time of each process (RLIMIT_CPU) */
    unsigned idle_seconds; /* in which no process uses or wants the processor: they wait for ever */
    unsigned wall_seconds; /* a last resort: it depends on the load of the machine */
};

struct sandbox_command {
    const char *bwrap; /* path of bubblewrap; NULL: it is searched for in PATH */
    /* Without bubblewrap: limits of processes hold, but the command sees all that the caller sees.
     * Mounts are not made, and RLIMIT_NPROC is not set, as it would count the user's processes. */
    bool unprotected;
    /* In a container of one submission, where bubblewrap cannot start: as without it, but in this
     * folder and with bubblewrap's environment. The command may write to nothing but
     * FOLDER/scratch, which is made for it and removed. If the caller is root, and may change its
     * uid, the command gets a uid that nothing else uses. NULL: no such thing. */
    const char *container;
    const char *confine; /* path of our program that sets the limits */
    const struct sandbox_mount *mounts;
    size_t mount_count;
    char *const *arguments; /* the command as it is called inside, ends with NULL */
    /* A file in /tmp (in a container: in scratch) that the command leaves and that becomes the
     * bytes of SANDBOX_RESULTS; NULL: the command writes to that descriptor itself. */
    const char *result_file;
    struct sandbox_limits limits;
    struct sandbox_output *outputs;
    size_t output_count; /* at most SANDBOX_OUTPUTS */
};

enum sandbox_ending {
    SANDBOX_EXITED,    /* `status` is its exit status; 128 + n: signal n ended it */
    SANDBOX_OUTPUT,    /* it wrote more than an output's limit */
    SANDBOX_MEMORY,    /* its processes together used more than limits.resident */
    SANDBOX_IDLE,      /* all its processes waited for limits.idle_seconds */
    SANDBOX_WALL,      /* it took longer than limits.wall_seconds */
    SANDBOX_NOT_BEGUN, /* bubblewrap did not start it; stderr, if it is an output, says why */
};

struct sandbox_result {
    enum sandbox_ending ending;
    int status;
    int descriptor; /* SANDBOX_OUTPUT: the output that was too long */
};

/*
 * Runs a command to its end; all its processes have ended when this returns. Returns 0, or
 * EXIT_DEVICE if no process could be started here at all. The bytes of the outputs belong to the
 * caller after 0 and after a failure: sandbox_end() frees them.
 *
 * Descriptors of the caller are not open in the command, except those of the outputs; its standard
 * input is /dev/null.
 */
int sandbox_run(const struct sandbox_command *, struct sandbox_result *, struct fault *);
void sandbox_end(struct sandbox_output *, size_t count);

/* Tests whether a sandbox can be started. `why` gets one sentence if it cannot. */
bool sandbox_works(const char *bwrap, const char *confine, char *why, size_t size);

/* The command line of bubblewrap, which ends with NULL; free() each word and it. */
char **sandbox_line(const struct sandbox_command *);

/* The uid that a command of this process gets; 0: that of the caller. */
unsigned sandbox_uid(const struct sandbox_command *);

/* Descriptors that sandbox_run() opens for bwrap and confine besides the outputs. */
enum { SANDBOX_BEGUN = 8, SANDBOX_INFO = 9 };

/* ---- container.c ----------------------------------------------------------------------------- */

enum { CONTAINER_PATH = 4096 + 16 };
/* Makes the command's scratch folder. Returns 0 or an errno. */
int container_begin(const struct sandbox_command *);
/* In the command's process: its folder and its environment. */
void container_enter(const struct sandbox_command *);
/* Ends all processes that the command has left, and removes its scratch folder. */
void container_end(const struct sandbox_command *);

/* ---- container.c: what nvcc needs in the sandbox --------------------------------------------- */

/* Its own programs, gcc as its preprocessor, and the headers that a lab may include. */

/* Where nvcc is called inside. */
#define TOOLKIT_NVCC "/cuda/bin/nvcc"

enum { TOOLKIT_MOUNTS = 128 };

struct toolkit {
    char folder[PATH_MAX]; /* of the CUDA toolkit */
    char gcc[PATH_MAX], shell[PATH_MAX];
    struct sandbox_mount mounts[TOOLKIT_MOUNTS];
    size_t mount_count;
    char paths[TOOLKIT_MOUNTS][2][PATH_MAX]; /* what the mounts point to */
};

/* Finds gcc and the shell, and lists the mounts. `nvcc` is the path of the compiler. Returns 0 or
 * EXIT_DEVICE. The struct must not move afterwards. */
int toolkit_find(struct toolkit *, const char *nvcc, struct fault *);

/* ---- container.c: what a process and all its descendants use --------------------------------- */

struct tree_usage {
    uint64_t resident; /* bytes of memory; a page that several processes share counts for each */
    uint64_t ticks;    /* processor time of the threads that are there now */
    unsigned active;   /* threads that run, are ready to run, or wait for a disk */
    unsigned processes;
};

/* Sums over a process and its descendants. Processes that end meanwhile count 0. */
struct tree_usage process_tree_usage(pid_t root);

/* Are descendants found here? A kernel without CONFIG_PROC_CHILDREN does not list them, and /proc
 * may hide them. Every tree seems to be idle and small then. */
bool process_tree_works(void);

/* ---- confine.c: takes system calls from a process that it cannot need ------------------------ */

/*
 * From now on, this process and all that it starts cannot make namespaces, mounts, sockets, memory
 * outside of what is counted (memory without a file, shared memory of System V), rings of requests,
 * keys or programs for the kernel, and cannot trace each other. Such a call fails with EPERM. It
 * cannot be undone. Returns 0, or -1 with errno. The process must not be able to gain privileges
 * (PR_SET_NO_NEW_PRIVS).
 */
int confine_calls(void);

#endif

/*
 * confine.c — the first program inside the sandbox of the grader (grader/sandbox.py): it gives up
 * uid 0, sets the limits of a process, closes descriptors and takes system calls away; then it runs
 * the command.
 *
 *   confine UID ADDRESS-SPACE FILE PROCESSES CPU BEGUN RESULTS RESULT-FILE COMMAND...
 *
 * UID 0 keeps the uid, and PROCESSES 0 does not limit processes. A byte on the descriptor BEGUN
 * tells the parent that the sandbox has begun. RESULTS is the descriptor for results, which becomes
 * descriptor 3, or 0. If RESULT-FILE is not empty, the command does not get that descriptor;
 * confine copies the file to it after the command has ended. confine exits as the command did, with
 * 128 + n after signal n, and with 125 if it fails itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- takes system calls from a process that it cannot need ----------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
/* Numbers from here on are those of another interface, x32, for the same calls. */
#define OTHER_INTERFACE 0x40000000
#elif defined(__aarch64__)
#define ARCHITECTURE    AUDIT_ARCH_AARCH64
#define OTHER_INTERFACE UINT32_MAX
#else
#error "which architecture does the kernel report here?"
#endif

/* Calls that a compiler and an emulator do not need. */
static const uint32_t refused[] = {
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_fsopen,
    SYS_fsmount, SYS_move_mount, SYS_open_tree, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
    SYS_request_key, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_memfd_create, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_socket, SYS_socketpair,
    SYS_open_by_handle_at, SYS_kexec_load, SYS_init_module, SYS_finit_module};
enum { REFUSED = sizeof refused / sizeof *refused };

#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

#define FIELD(name)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define END(result)    BPF_STMT(BPF_RET | BPF_K, result)
#define FAILS(error)   END(SECCOMP_RET_ERRNO | (error))
#define IF(how, value) BPF_JUMP(BPF_JMP | (how) | BPF_K, value, 0, 1) /* else skips one */

/* From now on, this process and all that it starts cannot make namespaces, mounts, sockets, memory
 * outside of what is counted (memory without a file, shared memory of System V), rings of requests,
 * keys or programs for the kernel, and cannot trace each other. Such a call fails with EPERM. It
 * cannot be undone. Returns 0, or -1 with errno. The process must not be able to gain privileges
 * (PR_SET_NO_NEW_PRIVS). */
static int confine_calls(void)
{
    enum { LOWER_HALF = 0 }; /* of an argument, in the byte order of these architectures */
    static const struct sock_filter head[] = {
        FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        END(SECCOMP_RET_KILL_PROCESS), FIELD(nr), IF(BPF_JGE, OTHER_INTERFACE), FAILS(EPERM),
        /* Its flags lie in memory, where no filter sees them; the C library uses clone instead. */
        IF(BPF_JEQ, SYS_clone3), FAILS(ENOSYS)};
    static const struct sock_filter tail[] = {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
                                              END(SECCOMP_RET_ALLOW),
                                              FIELD(args[LOWER_HALF]),
                                              IF(BPF_JSET, NAMESPACES),
                                              FAILS(EPERM),
                                              END(SECCOMP_RET_ALLOW)};
    enum { HEAD = sizeof head / sizeof *head, TAIL = sizeof tail / sizeof *tail };
    struct sock_filter filter[HEAD + 2 * REFUSED + TAIL];
    size_t length = 0;
    for (size_t i = 0; i < HEAD; i++) filter[length++] = head[i];
    for (size_t i = 0; i < REFUSED; i++) {
        filter[length++] = (struct sock_filter)IF(BPF_JEQ, refused[i]);
        filter[length++] = (struct sock_filter)FAILS(EPERM);
    }
    for (size_t i = 0; i < TAIL; i++) filter[length++] = tail[i];
    struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* ---- limits of the process, and its command -------------------------------------------------- */

enum { OWN_FAILURE = 125, RESULTS_INSIDE = 3, BLOCK = 1 << 16 };
enum { UID = 1, ADDRESS_SPACE, FILE_BYTES, PROCESSES, CPU, BEGUN, RESULTS, RESULT_FILE, COMMAND };

__attribute__((noreturn)) static void give_up(const char *what)
{
    fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
    _exit(OWN_FAILURE);
}

/* Both limits are set, so that the command cannot raise them again. */
static void limit(int resource, const char *value, const char *name)
{
    rlim_t bytes = strtoull(value, NULL, 10);
    struct rlimit both = {bytes, bytes};
    if (setrlimit(resource, &both) != 0) give_up(name);
}

/* The kernel ends the process at the hard limit of RLIMIT_CPU with SIGKILL, one second after the
 * SIGXCPU of the soft one. */
static void limit_time(const char *value)
{
    rlim_t seconds = strtoull(value, NULL, 10);
    struct rlimit both = {seconds, seconds + 1};
    if (setrlimit(RLIMIT_CPU, &both) != 0) give_up("RLIMIT_CPU");
}

/* RLIMIT_NPROC does not bind uid 0, so the uid changes before it is of use. */
static void leave_root(const char *value)
{
    uid_t uid = (uid_t)strtoul(value, NULL, 10);
    if (uid == 0) return;
    if (setgroups(0, NULL) != 0) give_up("setgroups");
    if (setresgid(uid, uid, uid) != 0) give_up("setresgid");
    if (setresuid(uid, uid, uid) != 0) give_up("setresuid");
}

static void set_limits(char **arguments)
{
    limit(RLIMIT_AS, arguments[ADDRESS_SPACE], "RLIMIT_AS");
    limit(RLIMIT_FSIZE, arguments[FILE_BYTES], "RLIMIT_FSIZE");
    if (strcmp(arguments[PROCESSES], "0") != 0)
        limit(RLIMIT_NPROC, arguments[PROCESSES], "RLIMIT_NPROC");
    limit(RLIMIT_CORE, "0", "RLIMIT_CORE");
    limit_time(arguments[CPU]);
}

static void tell_begun(int begun)
{
    if (write(begun, "b", 1) != 1) give_up("telling that the sandbox has begun");
}

/* Nothing but the standard ones and that of the results stays open. */
static void keep_descriptors(int results)
{
    unsigned first = results == 0 ? RESULTS_INSIDE : RESULTS_INSIDE + 1;
    if (results != 0 && dup2(results, RESULTS_INSIDE) < 0) give_up("dup2");
    if (close_range(first, ~0U, 0) != 0) give_up("close_range");
}

static int copy(int from, int to)
{
    static char block[BLOCK];
    for (ssize_t got; (got = read(from, block, sizeof block)) != 0;) {
        if (got < 0) return -1;
        for (ssize_t at = 0, put; at < got; at += put)
            if ((put = write(to, block + at, (size_t)(got - at))) <= 0) return -1;
    }
    return 0;
}

/* Only a regular file is sent: a link could lead anywhere, and a pipe has no end. A missing file is
 * sent as no bytes. */
static void send_file(const char *path, int to)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && copy(file, to) != 0)
        give_up("sending the result");
    close(file);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) give_up("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void execute(char **command)
{
    execv(command[0], command);
    give_up(command[0]);
}

int main(int count, char **arguments)
{
    if (count <= COMMAND) return OWN_FAILURE;
    int results = atoi(arguments[RESULTS]);
    bool sends = arguments[RESULT_FILE][0] != '\0';
    leave_root(arguments[UID]);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("PR_SET_NO_NEW_PRIVS");
    tell_begun(atoi(arguments[BEGUN]));
    keep_descriptors(results);
    set_limits(arguments);
    if (confine_calls() != 0) give_up("seccomp");
    if (!sends) execute(arguments + COMMAND);
    pid_t child = fork();
    if (child < 0) give_up("fork");
    if (child == 0) {
        close(RESULTS_INSIDE);
        execute(arguments + COMMAND);
    }
    int status = wait_for(child);
    send_file(arguments[RESULT_FILE], RESULTS_INSIDE);
    return status;
}

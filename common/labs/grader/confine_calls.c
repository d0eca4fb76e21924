/* confine_calls.c — takes system calls from a process that it cannot need. The filter is a
 * program for the kernel (seccomp). */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_fsopen,
    SYS_fsmount,
    SYS_move_mount,
    SYS_open_tree,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_memfd_create,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_socket,
    SYS_socketpair,
    SYS_open_by_handle_at,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
};
enum { REFUSED = sizeof refused / sizeof *refused };

#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

#define FIELD(name)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define END(result)    BPF_STMT(BPF_RET | BPF_K, result)
#define FAILS(error)   END(SECCOMP_RET_ERRNO | (error))
#define IF(how, value) BPF_JUMP(BPF_JMP | (how) | BPF_K, value, 0, 1) /* else skips one */

int confine_calls(void)
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

/* confine_calls.h — takes system calls from a process that it cannot need. */
#ifndef CONFINE_CALLS_H
#define CONFINE_CALLS_H

/*
 * From now on, this process and all that it starts cannot make namespaces, mounts, sockets, memory
 * outside of what is counted (memory without a file, shared memory of System V), rings of requests,
 * keys or programs for the kernel, and cannot trace each other. Such a call fails with EPERM. It
 * cannot be undone. Returns 0, or -1 with errno. The process must not be able to gain privileges
 * (PR_SET_NO_NEW_PRIVS).
 */
int confine_calls(void);

#endif

/*
 * ended.h — a program that ends before its report is complete says so and does not exit with 0.
 *
 * A scan runs in the harness's process, and it, or a thread that it has begun, may call exit,
 * quick_exit, abort or, in the harness's thread, pthread_exit. Each of them is noticed. Not noticed
 * are _exit, a system call that ends the process, and a signal that kills it: so a program that
 * judges by the exit code also has to ask for the report.
 */
#ifndef ENDED_H
#define ENDED_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the end of the program is too early: it prints a sentence, and the exit code is
 * EXIT_WRONG (abort's is that of its signal). Called by the thread that will run scans. */
void ended_watch(void);

/* The report is complete, and the program may end. Returns `code`. */
int ended_in_time(int code);

#ifdef __cplusplus
}
#endif

#endif

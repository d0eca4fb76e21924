/*
 * ended.h — makes sure that a program that ends before its report is complete says so, and does
 * not exit with 0.
 *
 * A scan runs in the harness's process. The scan, or a thread that it has started, may call exit,
 * quick_exit or abort, cause a signal such as SIGSEGV, or send one to the process. In the
 * harness's thread it may call pthread_exit. All of these are noticed. These are not: _exit, a
 * system call that ends the process, SIGKILL, SIGPIPE, an alarm, and a signal from elsewhere. So a
 * program that judges by the exit code also has to check that there is a report.
 */
#ifndef ENDED_H
#define ENDED_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on, if the program ends, it ends too early: it prints a sentence, and the exit code is
 * EXIT_WRONG (that of its signal after one). Must be called by the thread that will run scans. */
void ended_watch(void);

/* From here on also after a signal that the scan's host code causes or sends. What was done at such
 * a signal before, as the runtime removes its temporary files, is done after the sentence. So this
 * comes after the first call of the runtime. */
void ended_catch_signals(void);

/* The report is complete, and the program may end. Returns `code`. */
int ended_in_time(int code);

/* Called when a scan has returned. In a process that the scan has forked, it ends that process,
 * which would otherwise print a report of its own. */
void ended_check_child(void);

#ifdef __cplusplus
}
#endif

#endif

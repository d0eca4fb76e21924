/*
 * cudart_interrupt.c — Ctrl-C: the program stops at once, even in a kernel, and prints where it was
 * and the counts so far.
 *
 * A signal handler may do very little, so it only wakes a waiting thread. That thread asks the
 * running kernels to stop. The thread that launched such a kernel then ends the process; if no
 * kernel runs, the woken thread does. A second Ctrl-C ends the process in any case.
 */
#define _GNU_SOURCE /* sigaction */
#include "cudart.h"
#include "common/files/cleanup.h"
#include "common/files/replacement.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t pressed;
static volatile sig_atomic_t times_pressed;
static pid_t process;       /* the process with the thread; forked children do not have it */
static atomic_uint running; /* kernels */

static void handler(int signal_number)
{
    int error = errno;
    if (getpid() != process) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    } else if (times_pressed++ == 0) {
        sem_post(&pressed);
    } else {
        replacement_drop_all();
        _exit(EXIT_INTERRUPTED);
    }
    errno = error;
}

/* Handles the other signals that end a program: removes temporary files first. */
static void remove_files(int signal_number)
{
    replacement_drop_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Ends the process. If several threads call it, the first one does it and the others wait. The
 * program's output is flushed unless one of its threads is writing. */
_Noreturn static void finish(const char *sentence)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    if (ftrylockfile(stdout) == 0) {
        fflush(stdout);
        funlockfile(stdout);
    }
    cudart_print(sentence);
    cudart_report_write();
    cudart_check_end();
    cudart_end_trace(EXIT_INTERRUPTED);
    fflush(stdout);
    _exit(EXIT_INTERRUPTED);
}

static void *wait_for_interrupt(void *unused)
{
    enum { PATIENCE = 10 }; /* seconds, far more than a kernel needs to stop */
    while (sem_wait(&pressed) != 0) continue;
    for (int i = 0; i < cudart_device_count(); i++) emu_interrupt(cudart_device_at(i)->emu);
    if (running == 0) finish("interrupted; no kernel was running");
    struct timespec left = {.tv_sec = PATIENCE};
    while (nanosleep(&left, &left) != 0) continue;
    finish("interrupted; the kernel that is running does not stop");
    return unused;
}

/* After a Ctrl-C the program may return from main before finish() has ended the process. Then this
 * waits for finish(). */
__attribute__((destructor)) static void leave_the_end_to_finish(void)
{
    while (times_pressed != 0 && getpid() == process) pause();
}

void cudart_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, was;
    pthread_t thread;
    sigset_t all, old;
    if (sigaction(SIGINT, NULL, &was) != 0 || was.sa_flags & SA_SIGINFO ||
        was.sa_handler != SIG_DFL)
        return;
    if (sem_init(&pressed, 0, 0) != 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* for the new thread */
    bool has_thread = pthread_create(&thread, NULL, wait_for_interrupt, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!has_thread) return;
    pthread_detach(thread);
    process = getpid();
    sigaction(SIGINT, &action, NULL);
}

void cudart_catch_end(void)
{
    struct sigaction action = {.sa_handler = remove_files}, was;
    for (int number = 1; number < NSIG; number++)
        if (number != SIGINT && cleanup_ends_program(number) &&
            sigaction(number, NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO) &&
            was.sa_handler == SIG_DFL)
            sigaction(number, &action, NULL);
}

void cudart_kernel_begins(void) { running++; }

void cudart_kernel_ends(int result)
{
    cudart_progress_remove();
    if (result == EMU_INTERRUPTED) finish(emu_message(emu_runtime()));
    running--;
}

/*
 * process_end.c — a program that ends by a signal: it prints where it was, and writes its reports
 * first. end.c does the same where it ends by _exit, quick_exit or exec.
 *
 * A signal handler may do very little, so it only wakes a waiting thread. That thread asks the
 * running kernels to stop. The thread that launched such a kernel then writes the reports; if no
 * kernel runs, the woken thread does. After a crash the handler waits for this, because its thread
 * cannot go on, but not for ever: the crash may have spoilt what the reports need. A second Ctrl-C
 * ends the process in any case.
 */
#define _GNU_SOURCE /* sigaction, gettid */
#include "process.h"
#include "common/files/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds, far more than a kernel needs to stop or a report to be written; and what a shell adds to
 * a signal. */
enum { MOST_SECONDS = 10, BY_SIGNAL = 128 };

static sem_t pressed, written;
static volatile sig_atomic_t times_pressed;
static volatile sig_atomic_t ending; /* the signal; 0: another end */
static volatile sig_atomic_t waits;  /* the thread that ends the program waits for the reports */
static struct timespec first_time;   /* of pressing */
static pid_t process;                /* the process that is observed; not its forked children */
static bool is_observed, has_thread;
static atomic_uint running; /* kernels */
static atomic_int launcher; /* the thread of the latest one */
static atomic_int writer;   /* the thread that writes the reports */

/* ---- the end of the process ------------------------------------------------------------------ */

/* What the signal does by default; in its handler, as soon as that returns. */
static void end_by(int number)
{
    sigset_t own;
    replacement_drop_all();
    signal(number, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, number);
    raise(number);
    if (gettid() == writer) pthread_sigmask(SIG_UNBLOCK, &own, NULL);
}

/* Waits until the reports have been written, and says so if they are not. */
static void wait_until_written(void)
{
    static const char lost[] = "emu: the reports are not written: what the program did before it "
                               "ended keeps them from it\n";
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += MOST_SECONDS;
    while (sem_timedwait(&written, &limit) != 0)
        if (errno != EINTR) {
            cudart_parent_note_end();
            if (write(STDERR_FILENO, lost, sizeof lost - 1) < 0) return;
            return;
        }
    sem_post(&written); /* for others that wait */
}

/* A pipe without a reader takes no report, and says nothing of it. Is it one? */
static bool close_broken(int descriptor)
{
    struct pollfd pipe = {.fd = descriptor};
    return poll(&pipe, 1, 0) == 1 && pipe.revents & (POLLERR | POLLHUP) &&
           dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), descriptor) >= 0;
}

static void write_reports(int status)
{
    writer = gettid();
    if (waits) __fsetlocking(stdout, FSETLOCKING_BYCALLER); /* the program may be within printf */
    cudart_end_with(status);
    cudart_tables_write();
    cudart_check_end();
    cudart_end_trace(status);
}

static void print_signal(void)
{
    char sentence[100];
    if (ending == SIGINT) return;
    snprintf(sentence, sizeof sentence, "the program was ended by signal %d (%s)", ending,
             strsignal(ending));
    cudart_print(sentence);
}

/* Writes the reports, and ends the process, or lets the thread end it that waits for them. If
 * several threads call it, the first one does it and the others wait. The program's output is
 * flushed unless one of its threads is writing. */
_Noreturn static void finish(const char *sentence)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    bool is_silent = ending == SIGPIPE && close_broken(STDOUT_FILENO);
    if (ending != 0) {
        if (!waits && ftrylockfile(stdout) == 0) {
            fflush(stdout);
            funlockfile(stdout);
        }
        if (!is_silent) print_signal();
        if (!is_silent) cudart_print(sentence);
    }
    cudart_stop_suspended();
    write_reports(ending != 0 ? BY_SIGNAL + ending : cudart_end_status());
    sem_post(&written);
    while (waits || ending == 0) pause();
    fflush(stdout);
    if (ending == SIGINT) cudart_leave(EXIT_INTERRUPTED);
    end_by(ending);
    for (;;) pause();
}

static void *wait_for_interrupt(void *unused)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    while (sem_wait(&pressed) != 0) continue;
    for (int i = 0; i < cudart_device_count(); i++) emu_interrupt(cudart_device_at(i)->emu);
    bool is_stuck = running > 0 && waits == launcher; /* its kernel cannot end */
    if (is_stuck) nanosleep(&moment, NULL);           /* other threads stop */
    if (running == is_stuck) finish("interrupted; no kernel was running");
    struct timespec left = {.tv_sec = MOST_SECONDS};
    while (nanosleep(&left, &left) != 0) continue;
    finish("interrupted; the kernel that is running does not stop");
    return unused;
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Does the thread that gets this signal stop where it is? */
static bool stops_thread(int number)
{
    static const int all[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGABRT,
                              SIGTRAP, SIGPIPE, SIGSYS, SIGXFSZ};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == number) return true;
    return false;
}

/* `timeout` and a shell send a signal to a process and to its group: that is one signal. */
static bool is_repeated(void)
{
    static const long moment = 200000000; /* ns */
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1000000000L * (time.tv_sec - first_time.tv_sec) + time.tv_nsec - first_time.tv_nsec <
           moment;
}

static void begin_end(int number)
{
    clock_gettime(CLOCK_MONOTONIC, &first_time);
    ending = number;
    if (stops_thread(number)) waits = gettid();
    if (has_thread)
        sem_post(&pressed);
    else
        write_reports(BY_SIGNAL + number);
    if (has_thread && waits) wait_until_written();
    if (!has_thread || waits) end_by(number);
}

/* The reports are being written. */
static void end_again(int number)
{
    if (stops_thread(number) && gettid() != writer) {
        wait_until_written();
        end_by(number);
    } else if (stops_thread(number) || !is_repeated()) {
        replacement_drop_all();
        if (number == SIGINT) cudart_leave(EXIT_INTERRUPTED);
        end_by(number);
    }
}

static void handler(int number)
{
    int error = errno;
    if (getpid() != process)
        end_by(number);
    else if (times_pressed++ == 0)
        begin_end(number);
    else
        end_again(number);
    errno = error;
}

/* Handles the other signals that end a program: removes temporary files first. */
static void remove_files(int signal_number)
{
    replacement_drop_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Sets the handler of a signal that the program neither handles nor ignores. */
static void catch_default(int number, void (*caught)(int))
{
    struct sigaction action = {.sa_handler = caught, .sa_flags = SA_RESTART | SA_ONSTACK}, was;
    if (sigaction(number, NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO) &&
        was.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

/* Does the signal end the program by default, and can it be caught? */
static bool ends_program(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP,
                                 SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] == number) return false;
    return true;
}

static void catch_all(void (*caught)(int))
{
    for (int number = 1; number < NSIG; number++)
        if (number != SIGINT && ends_program(number)) catch_default(number, caught);
}

/* The program may return from main before finish() has ended the process. */
void cudart_leave_end_to_finish(void)
{
    while (times_pressed != 0 && has_thread && getpid() == process) pause();
}

/* The stack of the main thread may be what has overflown. */
void cudart_observe_end(void)
{
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, was;
    if (is_observed) return;
    is_observed = true;
    process = getpid();
    if (sigaltstack(NULL, &was) == 0 && was.ss_flags & SS_DISABLE) sigaltstack(&stack, NULL);
    catch_default(SIGINT, handler);
    catch_all(handler);
}

void cudart_catch_interrupt(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (sem_init(&pressed, 0, 0) != 0 || sem_init(&written, 0, 0) != 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* for the new thread */
    has_thread = pthread_create(&thread, NULL, wait_for_interrupt, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!has_thread) return;
    pthread_detach(thread);
    process = getpid();
    catch_default(SIGINT, handler);
}

void cudart_catch_end(void) { catch_all(remove_files); }

void cudart_write_before_end(void)
{
    if (!is_observed || getpid() != process || !cudart_is_owner() || times_pressed++ != 0) return;
    waits = gettid();
    if (has_thread) {
        sem_post(&pressed);
        wait_until_written();
    } else {
        write_reports(cudart_end_status());
    }
}

void cudart_end_has_failed(void)
{
    has_thread = false; /* it has done its work */
    waits = 0;
    times_pressed = 0;
}

bool cudart_thread_waits(void) { return waits != 0; }

void cudart_kernel_begins(void)
{
    launcher = gettid();
    running++;
}

void cudart_kernel_ends(int result)
{
    cudart_progress_remove();
    if (result == EMU_INTERRUPTED) finish(emu_message(emu_runtime()));
    running--;
}

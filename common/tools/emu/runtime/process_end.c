/* process_end.c — a program that ends by a signal, _exit, quick_exit or exec: its reports come
 * first. */
#define _GNU_SOURCE /* sigaction, gettid, RTLD_NEXT, environ, AT_EMPTY_PATH, on_exit */
#include "cudart.h"
#include "common/files/visible.h"
#include "common/files/files.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <unistd.h>

static void cudart_end_with(int code);

/* ---- ends by a signal ------------------------------------------------------------------------ */

/* A program that ends by a signal prints where it was, and writes its reports first. So it does
 * where it ends by _exit, quick_exit or exec (above).
 *
 * A signal handler may do very little, so it only wakes a waiting thread. That thread asks the
 * running kernels to stop. The thread that launched such a kernel then writes the reports; if no
 * kernel runs, the woken thread does. After a crash the handler waits for this, because its thread
 * cannot go on, but not for ever: the crash may have spoilt what the reports need. A second Ctrl-C
 * ends the process in any case. */

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
            cudart_parent_tell(OUTCOME_WRITTEN);
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
    if (ending != SIGINT)
        cudart_printf("the program was ended by signal %d (%s)", ending, strsignal(ending));
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
static void cudart_leave_end_to_finish(void)
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

/* Writes the reports of a program that ends without its destructors. */
static void cudart_write_before_end(void)
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

/* The program goes on after all. It has no more reports. */
static void cudart_end_has_failed(void)
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

/* ---- ends without destructors ---------------------------------------------------------------- */

/* A program that ends by _exit, _Exit, quick_exit or exec, which call no destructors: the
 * reports are written before.
 *
 * Programs find these functions here and not in the C library, because the dynamic linker looks
 * into libcudart.so first. It does so only if the version is the C library's. The versions are
 * marked as old ones ("@", not "@@"): so a linker does not take them, and the program runs on a
 * machine with NVIDIA's library, too. If a program loads libcudart.so with dlopen, or asks the
 * kernel itself, it is not noticed here: then only the command emu knows (report/report.h). */

#ifdef __aarch64__
#define FIRST  "GLIBC_2.17"
#define SECOND FIRST
#else
#define FIRST  "GLIBC_2.2.5"
#define SECOND "GLIBC_2.11"
#endif
#define IN_PLACE_OF(name, version)                                                                 \
    __asm__(".symver cudart_" #name ", " #name "@" version);                                       \
    extern __typeof__(name) cudart_##name

IN_PLACE_OF(_exit, FIRST);
IN_PLACE_OF(_Exit, FIRST);
IN_PLACE_OF(execv, FIRST);
IN_PLACE_OF(execve, FIRST);
IN_PLACE_OF(execvp, FIRST);
IN_PLACE_OF(execl, FIRST);
IN_PLACE_OF(execlp, FIRST);
IN_PLACE_OF(execle, FIRST);
IN_PLACE_OF(fexecve, FIRST);
IN_PLACE_OF(execvpe, SECOND);

static int status;       /* the exit code */
static bool is_replaced; /* by exec */

int cudart_end_status(void) { return status; }

static void cudart_end_with(int code) { status = code; }

static void note_status(int code, void *unused)
{
    (void)unused;
    status = code;
}

void cudart_observe_status(void) { on_exit(note_status, NULL); }

bool cudart_is_replaced(void) { return is_replaced; }

/* ---- exit ------------------------------------------------------------------------------------ */

/* Runs when the program ends by exit or by returning from main. It is the last to run (101),
 * because it may set the exit code. */
__attribute__((destructor(101))) static void end(void)
{
    cudart_leave_end_to_finish();
    cudart_go_on_at_end();
    cudart_end_trace(status);
    cudart_tables_write();
    cudart_check_end();
}

/* ---- _exit ----------------------------------------------------------------------------------- */

_Noreturn void cudart_leave(int code)
{
    for (;;) syscall(SYS_exit_group, code);
}

void cudart__exit(int code)
{
    status = code;
    cudart_write_before_end();
    cudart_leave(code);
}

void cudart__Exit(int code) { cudart__exit(code); }

/* Runs when the library is loaded: quick_exit calls last what was registered first. */
__attribute__((constructor)) static void observe_quick_exit(void)
{
    at_quick_exit(cudart_write_before_end);
}

/* ---- exec ------------------------------------------------------------------------------------ */

/* Is there such a program, in PATH if the name has no slash? */
static bool is_there(const char *file)
{
    char path[PATH_MAX];
    if (file == NULL) return false;
    return strchr(file, '/') != NULL ? access(file, X_OK) == 0 : program_path(file, path);
}

/* A program that has not used the device leaves the reports to the one that it becomes. */
static void before_exec(bool is_possible)
{
    int error = errno;
    if (!is_possible || !cudart_has_devices()) return;
    is_replaced = true;
    cudart_write_before_end();
    errno = error;
}

static int after_exec(void)
{
    int error = errno;
    if (is_replaced && cudart_is_owner()) {
        is_replaced = false;
        cudart_end_has_failed();
        cudart_print("exec has failed after the reports were written: what follows is not in them");
    }
    errno = error;
    return -1;
}

int cudart_execve(const char *path, char *const words[], char *const environment[])
{
    before_exec(is_there(path));
    syscall(SYS_execve, path, words, environment);
    return after_exec();
}

int cudart_execv(const char *path, char *const words[])
{
    return cudart_execve(path, words, environ);
}

int cudart_fexecve(int file, char *const words[], char *const environment[])
{
    before_exec(fcntl(file, F_GETFD) >= 0);
    syscall(SYS_execveat, file, "", words, environment, AT_EMPTY_PATH);
    return after_exec();
}

/* A file without #! is a script for the C library's function. */
int cudart_execvpe(const char *file, char *const words[], char *const environment[])
{
    static __typeof__(execvpe) *next;
    if (next == NULL) next = (__typeof__(execvpe) *)dlsym(RTLD_NEXT, "execvpe");
    before_exec(is_there(file));
    next(file, words, environment);
    return after_exec();
}

int cudart_execvp(const char *file, char *const words[])
{
    return cudart_execvpe(file, words, environ);
}

/* The arguments of execl and its like, up to NULL, as an array on the caller's stack. */
enum { MOST_WORDS = 4096 };

static void collect(char *words[MOST_WORDS], const char *first, va_list *rest)
{
    size_t count = 0;
    for (const char *word = first; word != NULL && count < MOST_WORDS - 1;
         word = va_arg(*rest, const char *))
        words[count++] = (char *)word;
    words[count] = NULL;
}

#define COLLECT(rest)                                                                              \
    char *words[MOST_WORDS];                                                                       \
    va_list rest;                                                                                  \
    va_start(rest, word);                                                                          \
    collect(words, word, &rest)

int cudart_execl(const char *path, const char *word, ...)
{
    COLLECT(rest);
    va_end(rest);
    return cudart_execv(path, words);
}

int cudart_execlp(const char *file, const char *word, ...)
{
    COLLECT(rest);
    va_end(rest);
    return cudart_execvp(file, words);
}

int cudart_execle(const char *path, const char *word, ...)
{
    COLLECT(rest);
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return cudart_execve(path, words, environment);
}

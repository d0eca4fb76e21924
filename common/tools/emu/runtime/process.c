/* process.c — the processes of a run: how they end, forks, and what they tell the command emu. */
#define _GNU_SOURCE /* sigaction, gettid, on_exit, O_CLOEXEC, flock */
#include "cudart.h"
#include "common/files/files.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the exit code --------------------------------------------------------------------------- */

static int status; /* with which the program ends, once that is known */

int cudart_end_status(void) { return status; }

static void note_status(int code, void *unused)
{
    (void)unused;
    status = code;
}

void cudart_observe_status(void) { on_exit(note_status, NULL); }

/* ---- ends by a signal ------------------------------------------------------------------------ */

/* A program that ends by a signal prints where it was, and writes its reports first. So it does
 * where it ends by _exit or quick_exit (below).
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

static void write_reports(int code)
{
    writer = gettid();
    if (waits) __fsetlocking(stdout, FSETLOCKING_BYCALLER); /* the program may be within printf */
    status = code;
    cudart_tables_write();
    cudart_check_end();
    if (ending != 0 && ending != SIGINT)
        replacement_drop_all(); /* a trace without its end */
    else
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
    write_reports(ending != 0 ? BY_SIGNAL + ending : status);
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

/* Sets the handler of a signal that the program neither handles nor ignores. */
static void catch_default(int number)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK}, was;
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

/* The stack of the main thread may be what has overflown. */
void cudart_observe_end(void)
{
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, was;
    if (is_observed) return;
    is_observed = true;
    process = getpid();
    if (sigaltstack(NULL, &was) == 0 && was.ss_flags & SS_DISABLE) sigaltstack(&stack, NULL);
    for (int number = 1; number < NSIG; number++)
        if (ends_program(number)) catch_default(number);
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
    catch_default(SIGINT);
}

/* Writes the reports of a program that ends without its destructors. */
static void write_before_end(void)
{
    if (!is_observed || getpid() != process || !cudart_is_owner() || times_pressed++ != 0) return;
    waits = gettid();
    if (has_thread) {
        sem_post(&pressed);
        wait_until_written();
    } else {
        write_reports(status);
    }
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

/* A program that ends by _exit, _Exit or quick_exit, which call no destructors: the reports are
 * written before.
 *
 * Programs find these functions here and not in the C library, because the dynamic linker looks
 * into libcudart.so first. It does so only if the version is the C library's. The versions are
 * marked as old ones ("@", not "@@"): so a linker does not take them, and the program runs on a
 * machine with NVIDIA's library, too. If a program loads libcudart.so with dlopen, or asks the
 * kernel itself, it is not noticed here, and has no reports. */

#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif
#define IN_PLACE_OF(name)                                                                          \
    __asm__(".symver cudart_" #name ", " #name "@" FIRST);                                         \
    extern __typeof__(name) cudart_##name

IN_PLACE_OF(_exit);
IN_PLACE_OF(_Exit);

_Noreturn void cudart_leave(int code)
{
    for (;;) syscall(SYS_exit_group, code);
}

void cudart__exit(int code)
{
    status = code;
    write_before_end();
    cudart_leave(code);
}

void cudart__Exit(int code) { cudart__exit(code); }

/* Runs when the library is loaded: quick_exit calls last what was registered first. */
__attribute__((constructor)) static void observe_quick_exit(void)
{
    at_quick_exit(write_before_end);
}

/* Runs when the program ends by exit or by returning from main. It is the last to run (101),
 * because it may set the exit code. finish() may be ending the process already. */
__attribute__((destructor(101))) static void end(void)
{
    while (times_pressed != 0 && has_thread && getpid() == process) pause();
    cudart_go_on_at_end();
    cudart_end_trace(status);
    cudart_tables_write();
    cudart_check_end();
}

/* ---- the processes that a program forks without exec ----------------------------------------- */

/* CUDA belongs to one process: on a GPU, a process that was forked after its parent had used CUDA
 * gets cudaErrorInitializationError from its calls, and it does so here. A process that was forked
 * before that may use CUDA. Then it opens devices of its own, and has reports of its own. */

static pid_t first, owner; /* the process that began; this one, if it has reports to write */
static bool has_devices, is_too_late;

static void in_child(void)
{
    owner = 0;
    is_too_late |= has_devices;
}

/* Runs when the library is loaded. */
__attribute__((constructor)) static void observe_forks(void)
{
    first = owner = getpid();
    pthread_atfork(cudart_check_flush, NULL, in_child);
}

bool cudart_is_owner(void) { return owner == getpid(); }

bool cudart_is_forked(void) { return owner != first; }

bool cudart_has_devices(void) { return has_devices && cudart_is_owner(); }

void cudart_claim(void)
{
    has_devices = true;
    if (cudart_is_owner()) return;
    owner = getpid();
    cudart_document_paths();
    cudart_check_begin();
}

bool cudart_is_forked_too_late(void)
{
    static atomic_bool is_told;
    if (!is_too_late) return false;
    if (atomic_exchange(&is_told, true)) return true;
    cudart_print("this process was forked after its parent had used CUDA, which CUDA does not "
                 "allow: its calls return cudaErrorInitializationError; fork before the first "
                 "call");
    cudart_parent_tell(OUTCOME_ERROR);
    return true;
}

/* ---- programs of one run --------------------------------------------------------------------- */

/* The programs of one command put their reports together in files of the command emu, which waits
 * for them (command/run.c). The settings for emu name these files as /proc has them. If they cannot
 * be opened, as in another namespace, the program writes its report by itself. */

static const enum setting_id takers[CUDART_PARTS] = {[CUDART_REPORT] = SETTING_REPORTS,
                                                     [CUDART_SARIF] = SETTING_SARIF_PARTS,
                                                     [CUDART_HTML] = SETTING_HTML_PARTS,
                                                     [CUDART_KERNELS] = SETTING_KERNELS};

static int open_to_add(const char *path)
{
    return path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

/* If it fails, the command says that it saw no program, or no kernel. */
static void add_byte(const char *path, char byte)
{
    int file = open_to_add(path);
    if (file >= 0 && write(file, &byte, 1) != 1) errno = 0;
    if (file >= 0) close(file);
}

void cudart_parent_tell(enum outcome outcome)
{
    static atomic_bool is_told[UCHAR_MAX + 1];
    if (atomic_exchange(&is_told[outcome], true)) return;
    add_byte(setting_text(SETTING_SEEN), (char)outcome);
    add_byte(setting_text(SETTING_OUTCOME), (char)outcome);
}

bool cudart_parent_takes(enum cudart_part part) { return setting_text(takers[part]) != NULL; }

/* Other programs wait while the file is locked. */
int cudart_parent_open(enum cudart_part part, bool *is_first)
{
    struct stat its;
    int file = open_to_add(setting_text(takers[part]));
    if (file < 0) return -1;
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) continue;
    *is_first = fstat(file, &its) == 0 && its.st_size == 0;
    return file;
}

int cudart_parent_write(int file, const char *text, size_t length)
{
    int error = 0;
    while (length > 0 && error == 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR) error = errno;
        if (written < 0) continue;
        text += written;
        length -= (size_t)written;
    }
    close(file);
    return error;
}

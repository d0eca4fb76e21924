#define _GNU_SOURCE
#include "ended.h"

#include "common/command/fault.h"
#include "common/files/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY "was called before the report was complete; a scan has to return."

/* Signals that the program's own code causes. */
static const char *const causes[NSIG] = {[SIGABRT] = "abort " WHY,
                                         [SIGSEGV] = "SIGSEGV, a wrong address",
                                         [SIGBUS] = "SIGBUS, a wrong address",
                                         [SIGFPE] = "SIGFPE, such as a division by 0",
                                         [SIGILL] = "SIGILL, an illegal instruction",
                                         [SIGTRAP] = "SIGTRAP, a breakpoint",
                                         [SIGSYS] = "SIGSYS, a system call that is not allowed"};

static volatile sig_atomic_t is_running;
static pid_t process; /* a child process of the scan may end in any way */
static bool is_child; /* this is one */
static char sentences[NSIG][256];
static struct sigaction before[NSIG];
static bool is_caught[NSIG];

static void end(const char *call)
{
    if (!is_running || process != getpid()) return;
    is_running = false;
    struct fault fault;
    fail(&fault, EXIT_WRONG, "%s " WHY, call);
    fault_say(&fault);
    fflush(NULL);
    _exit(EXIT_WRONG);
}

static void at_exit(void) { end("exit"); }
static void at_quickly(void) { end("quick_exit"); }
static void at_thread_end(void *unused)
{
    (void)unused;
    end("pthread_exit");
}

/* Did this process send the signal, or cause it by a mistake? Ctrl-C, `kill`, `timeout` and an
 * alarm that was set before the program began come from outside. */
static bool is_own(int number, const siginfo_t *info)
{
    if (number == SIGPIPE) return false; /* it ends filters silently */
    if (info->si_code > 0) return causes[number] != NULL;
    return info->si_pid == getpid();
}

/* Calls only functions that a signal handler may call. When this handler returns, the signal is
 * delivered again, with what was to be done before. */
static void at_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (is_running && process == getpid() && is_own(number, info)) {
        ssize_t written = write(STDERR_FILENO, sentences[number], strlen(sentences[number]));
        (void)written; /* nothing could be done about it here */
    }
    sigaction(number, &before[number], NULL);
    raise(number);
}

/* A handler of somebody else's may not end the program, but those of the causes do. */
static bool is_to_catch(int number)
{
    if (!cleanup_ends_program(number) || sigaction(number, NULL, &before[number]) != 0)
        return false;
    bool is_default =
        !(before[number].sa_flags & SA_SIGINFO) && before[number].sa_handler == SIG_DFL;
    return is_default || causes[number] != NULL;
}

/* A stack that has overflown is no place for a handler. */
void ended_catch_signals(void)
{
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, other;
    struct sigaction action = {.sa_sigaction = at_signal,
                               .sa_flags = SA_ONSTACK | SA_SIGINFO | SA_RESTART};
    if (sigaltstack(NULL, &other) == 0 && other.ss_flags & SS_DISABLE) sigaltstack(&stack, NULL);
    for (int number = 1; number < NSIG; number++)
        is_caught[number] = is_to_catch(number) && sigaction(number, &action, NULL) == 0;
}

static void note_child(void) { is_child = true; }

static pthread_key_t key; /* its destructor runs where a thread ends, but not at exit */

static void write_sentence(int number)
{
    char sent[60];
    const char *cause = causes[number];
    snprintf(sent, sizeof sent, "signal %d (%s), which it sent itself", number, strsignal(number));
    snprintf(sentences[number], sizeof *sentences,
             number == SIGABRT ? "%.60s: %s\n"
                               : "%.60s: %s, ended the program before the report was complete; "
                                 "look at the scan's code for the host.\n",
             program_invocation_short_name, cause ? cause : sent);
}

static void install(void)
{
    static bool installed;
    if (installed) return;
    installed = true;
    atexit(at_exit);
    at_quick_exit(at_quickly);
    pthread_key_create(&key, at_thread_end);
    pthread_atfork(NULL, NULL, note_child);
    for (int number = 1; number < NSIG; number++) write_sentence(number);
}

void ended_watch(void)
{
    install();
    process = getpid();
    pthread_setspecific(key, sentences); /* any value but NULL */
    is_running = true;
}

int ended_in_time(int code)
{
    is_running = false;
    pthread_setspecific(key, NULL);
    for (int number = 1; number < NSIG; number++) {
        if (is_caught[number]) sigaction(number, &before[number], NULL);
        is_caught[number] = false;
    }
    return code;
}

void ended_check_child(void)
{
    struct fault fault;
    if (!is_child) return;
    fail(&fault, EXIT_WRONG,
         "a process that the scan has forked came back from it; it has to end within the scan.");
    _exit(fault_say(&fault));
}

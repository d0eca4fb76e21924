#define _GNU_SOURCE
#include "ended.h"

#include "common/command/fault.h"

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
static const struct {
    int number;
    const char *what;
} causes[] = {{SIGABRT, "abort " WHY},
              {SIGSEGV, "SIGSEGV, a wrong address"},
              {SIGBUS, "SIGBUS, a wrong address"},
              {SIGFPE, "SIGFPE, such as a division by 0"},
              {SIGILL, "SIGILL, an illegal instruction"}};
enum { CAUSES = sizeof causes / sizeof *causes };

static volatile sig_atomic_t is_running;
static pid_t process; /* a child process of the scan may end in any way */
static bool is_child; /* this is one */
static char sentences[CAUSES][256];
static struct sigaction before[CAUSES];
static bool is_catching;

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

/* Calls only functions that a signal handler may call. When this handler returns, the signal is
 * delivered again, because it may have been sent by another program. */
static void at_signal(int number)
{
    int i = 0;
    while (causes[i].number != number) i++;
    if (is_running && process == getpid()) {
        ssize_t written = write(STDERR_FILENO, sentences[i], strlen(sentences[i]));
        (void)written; /* nothing could be done about it here */
    }
    sigaction(number, &before[i], NULL);
    raise(number);
}

/* A stack that has overflown is no place for a handler. */
void ended_catch_signals(void)
{
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, other;
    struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_ONSTACK};
    is_catching = true;
    if (sigaltstack(NULL, &other) == 0 && other.ss_flags & SS_DISABLE) sigaltstack(&stack, NULL);
    for (int i = 0; i < CAUSES; i++) sigaction(causes[i].number, &action, &before[i]);
}

static void note_child(void) { is_child = true; }

static pthread_key_t key; /* its destructor runs where a thread ends, but not at exit */

static void install(void)
{
    static bool installed;
    if (installed) return;
    installed = true;
    atexit(at_exit);
    at_quick_exit(at_quickly);
    pthread_key_create(&key, at_thread_end);
    pthread_atfork(NULL, NULL, note_child);
    for (int i = 0; i < CAUSES; i++)
        snprintf(sentences[i], sizeof *sentences,
                 i == 0 ? "%.60s: %s\n"
                        : "%.60s: %s, ended the program before the report was complete; look at "
                          "the scan's code for the host.\n",
                 program_invocation_short_name, causes[i].what);
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
    for (int i = 0; i < CAUSES && is_catching; i++) sigaction(causes[i].number, &before[i], NULL);
    is_catching = false;
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

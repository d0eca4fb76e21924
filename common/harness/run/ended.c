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

static volatile sig_atomic_t is_running;
static pid_t process; /* a child process of the scan may end in any way */
static char of_abort[200];
static void (*old_handler)(int);

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
 * delivered again, because it may have been sent by another program rather than by abort. */
static void at_abort(int number)
{
    if (is_running && process == getpid()) {
        ssize_t written = write(STDERR_FILENO, of_abort, strlen(of_abort));
        (void)written; /* nothing could be done about it here */
    }
    signal(number, old_handler);
    raise(number);
}

static pthread_key_t key; /* its destructor runs where a thread ends, but not at exit */

static void install(void)
{
    static bool installed;
    if (installed) return;
    installed = true;
    atexit(at_exit);
    at_quick_exit(at_quickly);
    pthread_key_create(&key, at_thread_end);
    snprintf(of_abort, sizeof of_abort, "%.60s: abort " WHY "\n", program_invocation_short_name);
}

void ended_watch(void)
{
    install();
    process = getpid();
    pthread_setspecific(key, of_abort); /* any value but NULL */
    old_handler = signal(SIGABRT, at_abort);
    is_running = true;
}

int ended_in_time(int code)
{
    is_running = false;
    pthread_setspecific(key, NULL);
    signal(SIGABRT, old_handler);
    return code;
}

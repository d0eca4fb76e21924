/*
 * parallel.c — see host.h. Helping threads are started by the first loop, and sleep between
 * loops: there are many short ones.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "host.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LEAST = 32,               /* turns: for fewer, no thread is woken */
    MOST_THREADS = 64,        /* memory cannot feed more */
    STACK_BYTES = 256 * 1024, /* also where `ulimit -s` gives less */
};

unsigned parallel_threads;

static struct {
    pthread_mutex_t lock; /* of what follows, but for `next` */
    pthread_cond_t offered, done;
    pid_t process;       /* that has the threads: a child by fork() has none of them */
    unsigned started;    /* threads */
    unsigned wanted;     /* that may still join the loop */
    unsigned working;    /* that have joined and are not done */
    atomic_bool is_busy; /* with a loop */
    void (*work)(void *, size_t);
    void *context;
    size_t count;
    atomic_size_t next; /* turn */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .offered = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void take_turns(void)
{
    for (size_t i; (i = pool.next++) < pool.count;) pool.work(pool.context, i);
}

static void *help(void *unused)
{
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.wanted == 0) pthread_cond_wait(&pool.offered, &pool.lock);
        pool.wanted--;
        pool.working++;
        pthread_mutex_unlock(&pool.lock);
        take_turns();
        pthread_mutex_lock(&pool.lock);
        if (--pool.working == 0) pthread_cond_signal(&pool.done);
    }
    return unused;
}

/* Signals are left to the program's own threads. */
static void start_helpers(unsigned count)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.started < count && pthread_create(&thread, &attributes, help, NULL) == 0)
        pool.started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return (unsigned)CPU_COUNT(&set);
}

/* How many threads may help this one. */
static unsigned helpers_for(size_t count)
{
    unsigned threads = parallel_threads ? parallel_threads : processors();
    if (pool.process == 0) pool.process = getpid();
    if (count < LEAST || pool.process != getpid()) return 0;
    return (threads < MOST_THREADS ? threads : MOST_THREADS) - 1;
}

static void share(unsigned helpers)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.started < helpers) start_helpers(helpers);
    pool.wanted = helpers < pool.started ? helpers : pool.started;
    pthread_cond_broadcast(&pool.offered);
    pthread_mutex_unlock(&pool.lock);
    take_turns();
    pthread_mutex_lock(&pool.lock);
    pool.wanted = 0;
    while (pool.working > 0) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context)
{
    unsigned helpers = helpers_for(count);
    if (helpers == 0 || atomic_exchange(&pool.is_busy, true)) {
        for (size_t i = 0; i < count; i++) work(context, i);
        return;
    }
    pool.work = work;
    pool.context = context;
    pool.count = count;
    pool.next = 0;
    share(helpers);
    pool.is_busy = false;
}

/* ---- the host's memory ----------------------------------------------------------------------- */

size_t host_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[80];
    size_t kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    if (kib) return kib * 1024;
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

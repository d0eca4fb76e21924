/*
 * parallel.c — see host.h.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "host.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LEAST = 32,        /* turns that are worth a thread */
    MOST_THREADS = 64, /* memory cannot feed more */
};

unsigned parallel_threads;

struct loop {
    void (*work)(void *, size_t);
    void *context;
    size_t count;
    atomic_size_t next; /* turn */
};

static void *take_turns(void *context)
{
    struct loop *loop = context;
    for (size_t i; (i = loop->next++) < loop->count;) loop->work(loop->context, i);
    return NULL;
}

static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return (unsigned)CPU_COUNT(&set);
}

void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context)
{
    struct loop loop = {.work = work, .context = context, .count = count};
    pthread_t helpers[MOST_THREADS];
    size_t most = parallel_threads ? parallel_threads : processors(), started = 0;
    if (most > MOST_THREADS) most = MOST_THREADS;
    if (most > count / LEAST) most = count / LEAST;
    while (started + 1 < most &&
           pthread_create(&helpers[started], NULL, take_turns, &loop) == 0)
        started++;
    take_turns(&loop);
    while (started > 0) pthread_join(helpers[--started], NULL);
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

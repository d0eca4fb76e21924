/*
 * pool.h — host threads that wait for work, so that a launch need not start any.
 *
 * Threads are started when they are first wanted and sleep between two launches. Who has work does
 * it himself at once; the others join in as they wake up, and need not if it is over by then. So a
 * small launch costs little more than with one thread.
 */
#ifndef EMU_POOL_H
#define EMU_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum { MAX_HOST_THREADS = 256 };

struct thread_pool {
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t offered, done;
    pthread_t threads[MAX_HOST_THREADS];
    unsigned started;
    void (*work)(void *);
    void *argument;
    unsigned wanted;  /* threads that may still join in */
    unsigned working; /* that have joined in and are not done */
    bool closing;
    pid_t process; /* a child after fork() has no threads but its own */
};

void pool_open(struct thread_pool *);
void pool_close(struct thread_pool *);

/* Calls work(argument) here and, at the same time, in up to `helpers` other threads. Returns when
 * all those calls have. One call at a time. */
void pool_run(struct thread_pool *, unsigned helpers, void (*work)(void *), void *argument);

#endif

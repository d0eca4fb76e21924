/*
 * pool.h — host threads that wait for work, so that a launch does not have to start any.
 *
 * Threads are started when they are first needed, and sleep between launches. The calling thread
 * begins the work at once. Others join when they have woken up, if work is left. So a small launch
 * takes little longer than with one thread.
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
    unsigned wanted;  /* threads that may still join */
    unsigned working; /* threads that have joined and are not done */
    bool closing;
    pid_t process; /* a child after fork() has only its own thread */
};

void pool_open(struct thread_pool *);
void pool_close(struct thread_pool *);

/* Calls work(argument) in this thread and, at the same time, in up to `helpers` others. Returns
 * when all these calls have returned. Only one call of pool_run at a time. */
void pool_run(struct thread_pool *, unsigned helpers, void (*work)(void *), void *argument);

#endif

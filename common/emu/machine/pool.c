#define _POSIX_C_SOURCE 200809L
#include "pool.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

void pool_open(struct thread_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->offered, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->process = getpid();
}

static void *helper(void *argument)
{
    struct thread_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->wanted && !pool->closing) pthread_cond_wait(&pool->offered, &pool->lock);
        if (pool->closing) break;
        pool->wanted--;
        pool->working++;
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->argument);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are left to the program's own threads. */
static void start_helpers(struct thread_pool *pool, unsigned count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < count && pool->started < MAX_HOST_THREADS &&
           !pthread_create(&pool->threads[pool->started], NULL, helper, pool))
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pool_run(struct thread_pool *pool, unsigned helpers, void (*work)(void *), void *argument)
{
    if (helpers && pool->process == getpid()) {
        if (pool->started < helpers) start_helpers(pool, helpers);
        pthread_mutex_lock(&pool->lock);
        pool->work = work;
        pool->argument = argument;
        pool->wanted = helpers < pool->started ? helpers : pool->started;
        pthread_cond_broadcast(&pool->offered);
        pthread_mutex_unlock(&pool->lock);
    }
    work(argument);
    if (!helpers || pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    pool->wanted = 0;
    while (pool->working) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pool_close(struct thread_pool *pool)
{
    if (pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->offered);
    pthread_mutex_unlock(&pool->lock);
    while (pool->started) pthread_join(pool->threads[--pool->started], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->offered);
    pthread_mutex_destroy(&pool->lock);
}

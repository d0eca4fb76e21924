/*
 * watch.c — see watch.h. MPI's functions are defined here, around those with which MPI lets a
 * program do that (PMPI). A thread beside them counts the seconds of each call.
 */
#define _GNU_SOURCE /* pthread_sigmask */
#include "watch.h"

#include "common/files/files.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define TICK_SECONDS  0.1
#define TICK_NS       100000000
#define AFTER_FAILURE 5.0 /* seconds that a rank waits which has failed itself */
#define RANK_SECONDS  2.0 /* rank 0 ends first, then rank 1, then the others: one says why */

static struct {
    atomic_uint calls; /* that have begun or ended: odd in a call that waits for other ranks */
    double limit;
    _Atomic(const struct fault *) reason;
} watch;

void watch_reason(const struct fault *fault) { watch.reason = fault; }

_Noreturn void watch_give_up(const struct fault *fault)
{
    replacement_drop_all();
    _exit(fault_say(fault));
}

_Noreturn static void end_waiting(void)
{
    struct fault fault;
    if (watch.reason) watch_give_up(watch.reason);
    fail(
        &fault, EXIT_DEVICE,
        "not all other ranks have come within %g second%s: one of them hangs, has been stopped, or "
        "needs more time; --wait takes another number of seconds.",
        watch.limit, watch.limit == 1 ? "" : "s");
    watch_give_up(&fault);
}

/* Ticks are counted, and not what the clock says: it goes on while this process is stopped. */
static void *count_seconds(void *later)
{
    static const struct timespec tick = {0, TICK_NS};
    unsigned before = 0;
    double waited = 0;
    for (;;) {
        nanosleep(&tick, NULL);
        unsigned now = watch.calls;
        waited = now == before && now % 2 ? waited + TICK_SECONDS : 0;
        before = now;
        double limit = watch.reason && AFTER_FAILURE < watch.limit ? AFTER_FAILURE : watch.limit;
        if (waited > limit + *(const double *)later) end_waiting();
    }
    return NULL;
}

void watch_begin(int rank, double seconds)
{
    static double later;
    pthread_t thread;
    sigset_t all, old;
    if (seconds == 0) return;
    watch.limit = seconds;
    later = RANK_SECONDS * (rank < 2 ? rank : 2);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); // signals are for the thread that runs the program
    if (pthread_create(&thread, NULL, count_seconds, &later) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void watch_begin_wait(void) { watch.calls++; }
void watch_end_wait(void) { watch.calls++; }

#define WATCHED(name, parameters, arguments)                                                       \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        watch.calls++;                                                                             \
        int code = PMPI_##name arguments;                                                          \
        watch.calls++;                                                                             \
        return code;                                                                               \
    }
WATCHED(Allgather,
        (const void *from, int sent, MPI_Datatype type, void *to, int got, MPI_Datatype of,
         MPI_Comm c),
        (from, sent, type, to, got, of, c))
WATCHED(Allreduce,
        (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm c),
        (from, to, count, type, op, c))
WATCHED(Bcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm c),
        (at, count, type, root, c))
WATCHED(Comm_dup, (MPI_Comm c, MPI_Comm *to), (c, to))
WATCHED(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *to),
        (c, type, key, info, to))
WATCHED(Finalize, (void), ())
WATCHED(Recv,
        (void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm c, MPI_Status *status),
        (to, count, type, from, tag, c, status))
WATCHED(Send, (const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm c),
        (at, count, type, to, tag, c))

/*
 * exchange.h — what the ways to exchange the sums of nodes have in common. Each is a file
 * exchange_*.c with one `struct exchange`.
 */
#ifndef STEP17_EXCHANGE_H
#define STEP17_EXCHANGE_H

#include "common/files/fault.h"
#include "part.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct many_scan;

struct exchange {
    /* Allocates what this way needs, on each rank by itself; NULL: nothing. If it returns a fault
     * on one rank, `close` is called on all. */
    int (*open)(struct many_scan *, struct fault *);
    /* Is called when `open` has succeeded on all ranks, and may be collective. NULL: nothing. */
    int (*connect)(struct many_scan *, struct fault *);
    /* Makes node_prefix of all ranks' node_sums. Collective, and called even if this rank has
     * failed before: the others wait for it. A collective of MPI is `running` until it ends. */
    int (*run)(struct many_scan *, cudaStream_t, struct fault *);
    int (*check)(struct many_scan *, struct fault *); /* see many_check; NULL: nothing */
    /* Ends a run in the stream that waits for other ranks. NULL: it ends at the limit. */
    void (*stop)(struct many_scan *);
    /* After a wait that has failed, when all ranks have come to many_reset. NULL: `run` is a
     * collective on `comm`. */
    int (*reset)(struct many_scan *, struct fault *);
    /* Gives back other ranks' memory, so that these can free it after a meeting. NULL: nothing. */
    void (*leave)(struct many_scan *);
    /* What was not opened is NULL. */
    void (*close)(struct many_scan *);
};

extern const struct exchange exchange_mpi, exchange_peer, exchange_exscan;
/* Has no address in a program that was built without NCCL. */
extern const struct exchange exchange_nccl __attribute__((weak));

struct many_scan {
    MPI_Comm comm;
    MPI_Comm control;             /* for meetings (exchange.h), and for another `comm` */
    MPI_Request running, meeting; /* collectives on `comm` and on `control` that are under way */
    double wait;                  /* see many_create */
    bool lost;                    /* a wait has failed */
    int ranks, rank;
    struct part part;
    size_t state_bytes, slots; /* many_slots */
    const struct exchange *exchange;
    void *own; /* the exchange's */
};

/* The bytes of an array of states. They are never 0, also if a rank has no tiles. */
static inline size_t states_bytes(size_t count, size_t state_bytes)
{
    return (count + 1) * state_bytes;
}

/* The bytes of the sums of all nodes: the slots of each rank, side by side. */
static inline size_t all_slots_bytes(int ranks, size_t slots, size_t state_bytes)
{
    return states_bytes((size_t)ranks * slots, state_bytes);
}

/* The library's waits for other ranks end at the limit that many_create gets. A collective that has
 * begun cannot be cancelled. One that did not end in time stays under way, together with its
 * communicator and its buffers.
 *
 * Waits for a collective that is under way. If not all ranks come in time, the scan is lost,
 * `what` says why, and the collective stays under way. Returns 0 or EXIT_DEVICE. */
int await(struct many_scan *, MPI_Request *, const char *what, struct fault *);
#define NOT_RUN   "not all ranks have called many_run"
#define NOT_RESET "not all ranks have called many_reset"

/* Waits until all ranks have called it, or the same function has been called again after a failure.
 * Returns 0 or EXIT_DEVICE. */
int meet(struct many_scan *, const char *what, struct fault *);

/* The fault of a scan that is lost. */
int scan_lost(struct many_scan *, struct fault *, const char *what);

/* A rank that fails alone would leave the others waiting in their next call of MPI. So a failure is
 * kept until all ranks have come to the end of the same piece of work, and there they agree.
 *
 * All ranks call it, each with the code of its own work (0: all is well) and the sentence. Returns
 * the same on all of them: 0 if no rank has failed; otherwise the code of the first rank that has,
 * and its sentence in every fault. The sentence names the rank, unless all ranks have the same. */
int agree(MPI_Comm, int code, struct fault *);

/* ranks.c: before a program chooses a device, each rank selects a GPU, and only rank 0 shows
 * progress. */
void ranks_prepare(void);

#ifdef __cplusplus
}
#endif

#endif

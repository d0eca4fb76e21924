/*
 * exchange.h — what the ways to exchange the sums of nodes have in common. Each is one
 * `struct exchange` in a file exchange_*.c.
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

/* All but `run` may be NULL: there is nothing to do. */
struct exchange {
    /* Makes `own`, on each rank by itself. If it returns a fault on one rank, `close` is called on
     * all. */
    int (*open)(struct many_scan *, struct fault *);
    /* Is called when `open` has succeeded on all ranks, and may be collective. */
    int (*connect)(struct many_scan *, struct fault *);
    /* Makes node_prefix of all ranks' node_sums. Collective, and called even if this rank has
     * failed before: the others wait for it. A collective of MPI is `running` until it ends. */
    int (*run)(struct many_scan *, cudaStream_t, struct fault *);
    int (*check)(struct many_scan *, struct fault *); /* see many_check */
    /* Ends a run in the stream that waits for other ranks. NULL: it ends at the limit. */
    void (*stop)(struct many_scan *);
    /* After a wait that has failed, when all ranks have come to many_reset. NULL: `run` is a
     * collective on `comm`. */
    int (*reset)(struct many_scan *, struct fault *);
    /* Gives back other ranks' memory, so that these can free it after a meeting. */
    void (*leave)(struct many_scan *);
    /* Frees `own`, which is not NULL. */
    void (*close)(struct many_scan *);
};

extern const struct exchange exchange_mpi, exchange_peer, exchange_exscan;
/* Has no address in a program that was built without NCCL. */
extern const struct exchange exchange_nccl __attribute__((weak));

struct many_scan {
    MPI_Comm comm;
    MPI_Comm control;             /* for meetings, and for another `comm` */
    MPI_Request running, meeting; /* collectives on `comm` and on `control` that are under way */
    double wait;                  /* see many_create */
    bool lost;                    /* a wait has failed */
    int ranks, rank;
    struct part part;
    size_t slots_bytes;   /* of this rank's many_slots, and so of node_sums */
    void *host_sums;      /* pinned host memory for this rank's slots */
    void *host_all_nodes; /* for those of all ranks, side by side */
    void *all_nodes;      /* the same in device memory */
    const struct exchange *exchange;
    void *own; /* the exchange's */
};

/* The library's waits for other ranks end at the limit that many_create gets. A collective that has
 * begun cannot be cancelled. One that did not end in time stays under way, together with its
 * communicator and its buffers.
 *
 * Waits for a collective that is under way. If not all ranks come in time, the scan is lost,
 * `what` says why, and the collective stays under way. Returns 0 or EXIT_DEVICE. */
int await(struct many_scan *, MPI_Request *, const char *what, struct fault *);
#define NOT_RUN   "not all ranks have called many_run"
#define NOT_RESET "not all ranks have called many_reset"

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

/*
 * ranks.h — which ranks there are, and which GPU each of them has.
 */
#ifndef STEP17_RANKS_H
#define STEP17_RANKS_H

#include "common/harness/run/device.h"
#include "request.h"
#include "steps/17-many-gpus/scan.h"

struct ranks {
    MPI_Comm comm;
    int rank, count;
    MPI_Comm here; /* those on this rank's machine */
    int local, locals;
    int machines;
    int gpus;      /* different ones, on all machines; emulated: one each */
    int sharers;   /* ranks that have this rank's GPU */
    bool alike;    /* all GPUs are of one model */
    bool emulated; /* on every rank */
    bool peers;    /* each has a GPU of its own, on one machine, and they reach each other (emulated
                    * ones: if they are of one model), and there are MANY_PEERS at most */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Selects the GPU before MPI is there, as far as Open MPI's environment names the rank's number on
 * its machine; so no other GPU gets a context. */
void ranks_select_early(void);

/* All ranks call it after MPI_Init: finds out everything above, and selects the GPU. */
int ranks_open(struct ranks *, const struct device *, struct fault *);
void ranks_close(struct ranks *);

/* The exchange that the user chose or, if none was chosen, the best one that is possible. Returns
 * 0, or EXIT_USAGE if the choice is impossible here; the same on all ranks. */
int ranks_exchange(const struct ranks *, enum exchange_choice, enum many_exchange *,
                   struct fault *);

#ifdef __cplusplus
}
#endif

#endif

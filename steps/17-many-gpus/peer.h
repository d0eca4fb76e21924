/*
 * peer.h — the kernel in which the GPUs of one machine exchange the sums of their nodes.
 */
#ifndef STEP17_PEER_H
#define STEP17_PEER_H

#include "part.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where a rank gets what the others store: device memory, cleared. It has two turns. Scans use them
 * alternately, by the parity of their number. This number is the epoch, which begins at 1. So a
 * rank that is one scan ahead does not overwrite what another one still reads. It cannot be two
 * ahead, because it waits in each scan for the flags of all ranks.
 */
struct mailbox {
    struct {
        uint32_t flag[MANY_RANKS];     /* the epoch, when rank i has stored all its sums */
        uint64_t sums[2 * MANY_NODES]; /* of many_slots nodes of each rank */
    } turn[2];
    /* This rank's own. */
    uint32_t epoch;  /* of the last scan */
    uint32_t failed; /* 1 + a rank whose flag did not come in time; 0: none */
};

/* What the kernel gets: the mailboxes of all ranks, as this GPU sees them. `ranks` pointers in
 * device memory. */
struct peers {
    struct mailbox *const *mailbox;
    uint64_t wait_ns; /* for a flag at most */
};

/* 3 and 4. Stores the node_sums into all mailboxes, waits for those of the others, and makes
 * node_prefix. A rank without nodes takes part, too. */
cudaError_t peer_exchange(const struct part *, struct peers, cudaStream_t);

#ifdef __cplusplus
}
#endif

#endif

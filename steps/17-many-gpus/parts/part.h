/*
 * part.h — the kernels of a rank, for programs in C. None of them waits for another rank.
 *
 * A scan has five stages. 1, 2, 4 and 5 are here. 3 is the exchange, after which each rank has the
 * node_sums of all (exchange.h). peer_exchange of part.h does 3 and 4 in one kernel.
 *
 * All arrays are device memory, aligned to 16 bytes. Every launch goes into the stream; no call
 * waits. A part without elements launches nothing.
 */
#ifndef STEP17_PART_H
#define STEP17_PART_H

#include "shape.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rank's part of a scan. */
struct part {
    enum many_op op;
    struct many_shape shape;
    int ranks, rank;
    void *tile_sums;   /* a state for each of its tiles */
    void *node_sums;   /* a state for each of its many_slots; those of its nodes come first */
    void *node_prefix; /* a state for each of its many_slots */
};

/* 1. tile_sums become the sums of the tiles. */
cudaError_t part_reduce(const struct part *, const void *in, const void *in2, cudaStream_t);

/* 2. tile_sums become the prefixes of the tiles in their node; node_sums the sums of the nodes. */
cudaError_t part_scan_tile_sums(const struct part *, cudaStream_t);

/* 4. After the exchange all_nodes has the node_sums of each rank side by side: node_prefix become
 * the prefixes of this rank's nodes. */
cudaError_t part_scan_nodes(const struct part *, const void *all_nodes, cudaStream_t);

/* 5. The results. */
cudaError_t part_scan(const struct part *, void *out, const void *in, const void *in2,
                      bool inclusive, cudaStream_t);

/* ---- the exchange by peer memory ------------------------------------------------------------- */

/* The kernel in which the GPUs of one machine exchange the sums of their nodes. */

/*
 * Device memory of a rank into which the others store their sums. It is cleared at first. It has
 * two halves. Scans use them alternately, by the parity of their number. This number is the epoch,
 * which begins at 1.
 *
 * No store of scan e + 2 overwrites a word of scan e that another rank has still to read. In scan
 * e + 1 each rank sends every other rank at least one word, and waits for all words of every other
 * rank. Rank A stores words of scan e + 2 when its scan e + 1 has ended. Then A has found words of
 * scan e + 1 from each rank B. B has stored them after its scan e had ended, and with it all of B's
 * loads of scan e.
 */
struct mailbox {
    uint64_t half[2][2 * MANY_NODES]; /* an entry is a word, or two for states of 8 bytes */
    /* This rank's own. The kernel loads both numbers with one access. */
    struct progress {
        uint32_t epoch;  /* of the last scan */
        uint32_t failed; /* 1 + an entry that did not come in time; 0: none */
    } progress;
};

/* The entries that a rank sends to each other rank: one for each of its nodes. A rank without nodes
 * sends one, too, so that the others can wait for it. It lies behind those of all nodes. */
static inline struct many_part peer_entries_of(struct many_shape shape, int ranks, int rank)
{
    struct many_part own = many_nodes_of(shape, ranks, rank);
    // Of the ranks before this one, own.begin have a node each.
    if (own.count == 0) own.begin = shape.nodes + (size_t)rank - own.begin, own.count = 1;
    return own;
}

/* The rank that sends an entry. For an entry before `begin` an unsigned wrap makes the difference
 * large. */
static inline int peer_sender_of(struct many_shape shape, int ranks, size_t entry)
{
    int rank = 0;
    while (entry - peer_entries_of(shape, ranks, rank).begin >=
           peer_entries_of(shape, ranks, rank).count)
        rank++;
    return rank;
}

/* The entries of all ranks. */
static inline unsigned peer_entries(struct many_shape shape, int ranks)
{
    return shape.nodes > (unsigned)ranks ? shape.nodes : (unsigned)ranks;
}

/* What the kernel gets, as arguments: the addresses need not be loaded from device memory. */
struct peers {
    struct mailbox *mailbox[MANY_PEERS]; /* [r] is that of rank (own rank + r) % ranks */
    uint64_t wait_ns;                    /* for an entry at most */
};

/* Stages 3 and 4 of part.h. Stores the node_sums into all mailboxes, waits for those of the others,
 * and makes node_prefix. A rank without nodes takes part, too. */
cudaError_t peer_exchange(const struct part *, const struct peers *, cudaStream_t);

#ifdef __cplusplus
}
#endif

#endif

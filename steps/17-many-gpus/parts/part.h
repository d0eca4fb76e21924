/*
 * part.h — the kernels of a rank, for programs in C. None of them waits for another rank.
 *
 * A scan has five stages. 1, 2, 4 and 5 are here. 3 is the exchange, after which each rank has the
 * node_sums of all (exchange.h). peer_exchange of peer.h does 3 and 4 in one kernel.
 *
 * All arrays are device memory, aligned to 16 bytes. Every launch goes into the stream; no call
 * waits. A part without elements launches nothing.
 */
#ifndef STEP17_PART_H
#define STEP17_PART_H

#include "operator.h"
#include "shape.h"

#include <cuda_runtime.h>
#include <stdbool.h>

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

#ifdef __cplusplus
}
#endif

#endif

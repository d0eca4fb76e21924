/*
 * cluster.h — blocks that start together, are resident together, and may use each other's shared
 * memory (PTX ISA, "Cluster of Cooperative Thread Arrays"). Without __cluster_dims__ each block is a
 * cluster of its own.
 *
 * One host thread runs a whole cluster, its blocks taking turns. So nothing inside a cluster needs a
 * lock: remote shared memory, mbarriers, asynchronous copies.
 */
#ifndef EMU_CLUSTER_H
#define EMU_CLUSTER_H

#include "machine.h"

/*
 * Shared addresses are 32 bits: a block's rank in the highest 8, an offset in the others, as on a
 * GPU. Variables have their addresses with the rank of their own block in it.
 */
enum { RANK_SHIFT = 24 };
static inline uint64_t cluster_window(unsigned rank) { return (uint64_t)rank << RANK_SHIFT; }

/* A cluster's memory, which serves one cluster after another; NULL when out of memory. */
struct cluster *cluster_new(struct launch *);
void cluster_free(struct cluster *);
/* Makes it the cluster of that number in the grid. */
void cluster_start(struct cluster *, uint64_t index);
/* Runs it for one time slice. True: it has ended, or the launch has an error. */
bool cluster_run(struct cluster *, struct insn_counts *);
/* Has one of its blocks written memory or passed a barrier since this was last asked? */
bool cluster_changed(struct cluster *);

#endif

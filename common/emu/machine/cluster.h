/*
 * cluster.h — blocks that start together, are resident together, and may use each other's shared
 * memory (PTX ISA, "Cluster of Cooperative Thread Arrays"). Without __cluster_dims__ each block is
 * a cluster of its own.
 *
 * One host thread runs a whole cluster, and its blocks take turns. So remote shared memory,
 * mbarriers and asynchronous copies need no locks.
 */
#ifndef EMU_CLUSTER_H
#define EMU_CLUSTER_H

#include "machine.h"

/* The memory of a cluster, which serves one cluster after another. NULL: out of memory. */
struct cluster *cluster_new(struct launch *);
void cluster_free(struct cluster *);
/* Starts the cluster with that number in the grid. */
void cluster_start(struct cluster *, uint64_t index);
/* Runs the cluster for one turn. True: it has ended, or the launch has an error. */
bool cluster_run(struct cluster *, struct insn_counts *);
/* Ends a turn, and returns what the cluster has done in it. */
enum cluster_turn {
    TURN_CHANGED, /* it has changed memory, or has written to several places */
    TURN_WORKED,  /* not so, but more work or more time may lead to a change */
    TURN_SPUN,    /* it waits for another cluster, or for the host */
    TURN_STUCK,   /* it repeats its states until another cluster changes memory */
};
enum cluster_turn cluster_end_turn(struct cluster *);

#endif

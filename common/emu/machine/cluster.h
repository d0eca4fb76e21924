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

#include "common/emu/decode/warp_ops.h"
#include "machine.h"

/* A cluster's memory, which serves one cluster after another; NULL when out of memory. */
struct cluster *cluster_new(struct launch *);
void cluster_free(struct cluster *);
/* Makes it the cluster of that number in the grid. */
void cluster_start(struct cluster *, uint64_t index);
/* Runs it for one turn. True: it has ended, or the launch has an error. */
bool cluster_run(struct cluster *, struct insn_counts *);
/* What it has done in the turn that is over; the next one begins. */
enum cluster_turn {
    TURN_CHANGED, /* it has changed memory, or goes on from place to place */
    TURN_WORKED,  /* not so, but it may do so after some more work, or when some time has passed */
    TURN_SPUN,    /* it waits for what another cluster does */
};
enum cluster_turn cluster_end_turn(struct cluster *);

/* ---- what its blocks do together (cluster_ops.c) */

/* Of barrier.cluster.wait: these lanes, or none. */
uint32_t cluster_wait_over(struct warp *, const struct insn *, uint32_t lanes);
/* Ends the launch with a sentence on who waits at a barrier.cluster for ever. */
void cluster_report(struct warp *, const struct insn *, int lane);

#endif

/*
 * phase_wait.h — instructions that wait for the end of a phase: barrier.cluster.wait and
 * mbarrier.try_wait.
 *
 * A fragment stays at such an instruction until the phase is over for one of its lanes. Its block
 * checks this before each turn of the warp.
 */
#ifndef EMU_PHASE_WAIT_H
#define EMU_PHASE_WAIT_H

#include "machine.h"

/* Lanes come to the instruction. The fragment's other lanes, which the guard holds back, skip
 * it. */
void phase_wait_begin(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lets the fragments go on whose wait is over. */
void phase_wait_poll_all(struct warp *);
static inline void phase_wait_poll(struct warp *w)
{
    if (w->may_wait) phase_wait_poll_all(w);
}
/* No thread of the cluster can go on: the waits that have a time limit time out. False: there is no
 * such wait, or it has timed out too often, which is a fault. */
bool phase_wait_time_out(struct cluster *);
/* Ends the launch if the cluster was last seen waiting for an mbarrier. `why`: the reason, for the
 * message. False: the cluster is not in such a wait. */
bool phase_wait_give_up(struct cluster *, int error, const char *why);

/* ---- barrier.cluster (cluster_ops.c) --------------------------------------------------------- */

/* Is a barrier.cluster.wait over? Returns all of the lanes, or 0. */
uint32_t cluster_wait_over(struct warp *, const struct insn *, uint32_t lanes);
/* Ends the launch with a message about a barrier.cluster that never completes. */
void cluster_report(struct warp *, const struct insn *, int lane);

#endif

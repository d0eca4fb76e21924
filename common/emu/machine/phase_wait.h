/*
 * phase_wait.h — instructions that wait for the end of a phase: barrier.cluster.wait and
 * mbarrier.try_wait.
 *
 * A fragment stays at such an instruction until the phase is over for one of its lanes. Its block
 * looks again before each of the warp's turns.
 */
#ifndef EMU_PHASE_WAIT_H
#define EMU_PHASE_WAIT_H

#include "machine.h"

/* The lanes come to the instruction; those that its guard holds back pass it by. */
void phase_wait_begin(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lets those fragments go on for which the wait is over. */
void phase_wait_poll(struct warp *);
/* Nobody in the cluster can go on: what waits with a time limit has waited long enough. False:
 * nothing does, or it has been so too often; that is a fault, then. */
bool phase_wait_time_out(struct cluster *);
/* Gives a cluster up, because of `why`; false: it is not a wait of this kind that it does. */
bool phase_wait_give_up(struct cluster *, int error, const char *why);

#endif

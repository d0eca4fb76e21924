/*
 * repeat.h — detects a cluster that repeats the same states.
 *
 * If a cluster returns to an earlier state, and has changed no memory in between, it will return
 * there again and again until another cluster changes memory. So it waits, whatever its
 * instructions look like. The state is everything that decides how the cluster goes on: registers,
 * shared and local memory, and the instruction of each lane.
 */
#ifndef EMU_REPEAT_H
#define EMU_REPEAT_H

#include "machine.h"

/* Does the cluster repeat its states? Called at the end of each turn in which it ran and changed no
 * memory. False also if this is not known yet, if the state is too large, or if another cluster has
 * changed memory since its last turn. */
bool repeats(struct cluster *);

#endif

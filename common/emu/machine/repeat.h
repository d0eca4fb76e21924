/*
 * repeat.h — does a cluster do the same again and again?
 *
 * When a cluster comes to a state in which it was before, and has changed no memory in between, it
 * will come there again and again, unless another cluster changes memory: so it waits for that,
 * whatever its instructions look like. The state is what decides how it goes on: registers, shared
 * and local memory, and where each lane is.
 */
#ifndef EMU_REPEAT_H
#define EMU_REPEAT_H

#include "machine.h"

/* Asked at the end of each turn in which the cluster was running and has changed nothing. False, too,
 * where it cannot be told yet or would cost too much. */
bool repeats(struct cluster *);

#endif

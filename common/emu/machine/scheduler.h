/*
 * scheduler.h — runs the clusters of a launch on host threads.
 *
 * A host thread takes the clusters in the order of their index and runs each one until it ends or
 * its time slice is over. A cluster whose slice is over waits in a queue. The thread then starts
 * another cluster, as long as the GPU would hold that many at once; otherwise it continues with the
 * one that has waited longest. So a block that spins on a value of another block does not stop the
 * grid, and as on a GPU only resident blocks can be waited for.
 */
#ifndef EMU_SCHEDULER_H
#define EMU_SCHEDULER_H

#include "machine.h"

enum { WARP_SLICE = 1 << 16 }; /* instructions */

/* How many blocks of this shape an SM of the GPU holds, by threads, shared memory and its own
 * limit. Registers are left out, because only ptxas knows their number. */
unsigned blocks_per_sm(const struct emu_gpu *, unsigned threads, size_t shared_bytes);

#endif

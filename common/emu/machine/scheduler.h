/*
 * scheduler.h — from a launch to its blocks.
 *
 * Host threads take blocks in the order of their index and run each until it ends, or until its
 * time slice is over. Then it waits in a queue and the thread begins another block, as long as the
 * GPU would hold that many at once; otherwise it goes on with the one that has waited longest. So a
 * block that spins on what another one will write does not stop the grid, and as on a GPU only
 * resident blocks can be waited for. Blocks of a cluster are taken, run and put back together.
 */
#ifndef EMU_SCHEDULER_H
#define EMU_SCHEDULER_H

#include "machine.h"

enum { WARP_SLICE = 1 << 16 }; /* instructions */

/* How many blocks of this shape a GPU's multiprocessor holds, by threads, shared memory and its own
 * limit; registers are left out, as only ptxas knows them. */
unsigned blocks_per_sm(const struct emu_gpu *, unsigned threads, size_t shared_bytes);

#endif

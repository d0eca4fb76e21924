/* block.h — one thread block: its memory, and its warps taking turns. */
#ifndef EMU_BLOCK_H
#define EMU_BLOCK_H

#include "machine.h"

enum block_stop {
    BLOCK_ENDED,      /* every thread has exited, or the launch has an error */
    BLOCK_SLICE_OVER, /* the time slice of a warp is used up */
    BLOCK_WAITS,      /* it has run, and no thread can go on now */
    BLOCK_STUCK,      /* it could not run at all */
};

/* A block's memory, which serves one block after another; NULL when out of memory. */
struct block *block_new(struct launch *);
void block_free(struct block *);
/* Makes it the block of that place in the grid. */
void block_start(struct block *, struct emu_dim id);
/* Runs it for at most one time slice a warp. */
enum block_stop block_run(struct block *, struct insn_counts *);

#endif

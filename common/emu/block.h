/* block.h — one thread block: its memory, its warps taking turns, its barriers. */
#ifndef EMU_BLOCK_H
#define EMU_BLOCK_H

#include "machine.h"

/* A block's memory, which serves one block after another; NULL when out of memory. */
struct block *block_new(struct launch *);
void block_free(struct block *);
/* Makes it the block of that index in the grid. */
void block_start(struct block *, uint64_t index);
/* Runs it for one time slice a warp. True: it has ended, or the launch has an error. */
bool block_run(struct block *, struct insn_counts *);
/* Ends the launch with an error that names where this block's first live warp is. */
void block_give_up(struct block *, unsigned seconds);

#endif

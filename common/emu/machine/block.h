/* block.h — one thread block: its memory, and the turns of its warps. */
#ifndef EMU_BLOCK_H
#define EMU_BLOCK_H

#include "machine.h"

enum block_stop {
    BLOCK_ENDED,      /* every thread has exited, or the launch has an error */
    BLOCK_SLICE_OVER, /* a warp's time slice is used up, or the block waits for another */
    BLOCK_WAITS,      /* it has run, and now no thread can go on */
    BLOCK_STUCK,      /* it could not run */
};

/* The memory of a block, which serves one block after another. NULL: out of memory. */
struct block *block_new(struct launch *);
void block_free(struct block *);
/* Sets a special register of a warp that starts; is_new: it has never been set. (special.c) */
void special_fill(struct warp *, const struct special *, bool is_new);
/* Starts the block with that index and place in the grid. */
void block_start(struct block *, uint64_t index, unsigned x, unsigned y, unsigned z);
/* The next turn of its cluster begins: each warp gets a time slice for the whole turn. */
void block_next_turn(struct block *);
/* Runs the block until no thread can go on, or until other blocks should run. */
enum block_stop block_run(struct block *, struct insn_counts *);

#endif

/* block.h — one thread block: its memory, and its warps taking turns. */
#ifndef EMU_BLOCK_H
#define EMU_BLOCK_H

#include "machine.h"

enum block_stop {
    BLOCK_ENDED,      /* every thread has exited, or the launch has an error */
    BLOCK_SLICE_OVER, /* a warp's time slice is used up, or the block waits for another */
    BLOCK_WAITS,      /* it has run, and no thread can go on now */
    BLOCK_STUCK,      /* it could not run at all */
};

/* A block's memory, which serves one block after another; NULL when out of memory. */
struct block *block_new(struct launch *);
void block_free(struct block *);
/* Sets a special register of a warp that starts; is_new: it has never been set. (special.c) */
void special_fill(struct warp *, const struct special *, bool is_new);
/* Makes it the block of that place in the grid. */
void block_start(struct block *, struct emu_dim id);
/* Its cluster's next turn begins: each warp gets a time slice, which is for the whole turn. */
void block_next_turn(struct block *);
/* Runs it until no thread can go on, or until other blocks shall run. */
enum block_stop block_run(struct block *, struct insn_counts *);

#endif

/* barrier.h — the named barriers of a block. */
#ifndef EMU_BARRIER_H
#define EMU_BARRIER_H

#include "machine.h"

/* A fragment comes to a barrier. This may release all fragments that wait there, and this one. */
void barrier_arrive(struct warp *, struct fragment *, const struct insn *, bool waits);
/* Releases the fragments that wait at a barrier. */
void barrier_release(struct block *, unsigned number);

#endif

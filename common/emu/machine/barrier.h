/* barrier.h — the named barriers of a block. */
#ifndef EMU_BARRIER_H
#define EMU_BARRIER_H

#include "machine.h"

/* A fragment has come to a barrier. It may release every fragment that waits there, this one
 * too. */
void barrier_arrive(struct warp *, struct fragment *, const struct insn *, bool waits);
/* Lets go on who waits there. */
void barrier_release(struct block *, unsigned number);

#endif

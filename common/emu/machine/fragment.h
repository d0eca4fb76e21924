/*
 * fragment.h — how a warp's lanes part and come together again.
 *
 * Lanes that are at the same instruction form a fragment. A warp begins as one; a branch that only
 * some lanes take splits it. The fragment with the lowest instruction runs, because nvcc lays code
 * out so that lanes which are ahead wait where the others will come by; when two are at the same
 * instruction they merge. No stack of reconvergence points is needed, and a loop with several exits
 * is no special case.
 *
 * The lowest fragment may be waiting for a lane of another one (a spin lock inside a warp). So when
 * it has run PATIENCE instructions in a row while others could run, the one that has waited longest
 * has a turn.
 */
#ifndef EMU_FRAGMENT_H
#define EMU_FRAGMENT_H

#include "machine.h"

enum { PATIENCE = 1 << 14 };

/* Starts a warp with one fragment at instruction 0. */
void fragment_start(struct warp *, uint32_t lanes);
/* Merges what can be merged and chooses the fragment to run; NULL if none is ready. *limit is the
 * instruction at which it would meet another; *others: whether another one is ready too. */
struct fragment *fragment_next(struct warp *, uint32_t *limit, bool *others);
/* Takes `lanes` out of a fragment and makes one of them at another instruction. Returns it; the
 * fragments may have moved in memory only by growing at the end, so pointers stay valid. */
struct fragment *fragment_split(struct warp *, struct fragment *, uint32_t lanes, uint32_t pc);
void fragment_remove(struct warp *, struct fragment *);

#endif

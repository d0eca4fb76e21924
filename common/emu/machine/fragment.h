/*
 * fragment.h — divergence: how the lanes of a warp split at branches, and merge again.
 *
 * Lanes that are at the same instruction form a fragment. A warp begins as one fragment. A branch
 * that only some lanes take splits it. The fragment with the lowest instruction runs first: nvcc
 * lays out code so that lanes that are ahead wait where the other lanes will arrive. When two
 * fragments are at the same instruction, they merge. No stack of reconvergence points is needed,
 * and a loop with several exits is no special case.
 *
 * The lowest fragment may wait for a lane of another fragment (a spin lock inside of a warp). So
 * when it has run PATIENCE instructions in a row while others could run, the fragment that has
 * waited longest gets a turn.
 */
#ifndef EMU_FRAGMENT_H
#define EMU_FRAGMENT_H

#include "frame.h"
#include "machine.h"

enum { PATIENCE = 1 << 14 };

/* Starts a warp with one fragment at instruction 0. */
static inline void fragment_start(struct warp *w, uint32_t lanes)
{
    w->live = lanes;
    w->exited = 0;
    w->fragment_count = 1;
    w->fragments[0] = (struct fragment){.frame = &w->root, .mask = lanes, .state = FRAGMENT_READY};
    w->turns = 0;
    w->fair = w->may_wait = false;
}
/* Merges fragments, and chooses the next one to run; NULL: none is ready. *limit: the instruction
 * at which it would reach another fragment. *others: another fragment is ready, too. */
struct fragment *fragment_choose(struct warp *, uint32_t *limit, bool *others);
static inline struct fragment *fragment_next(struct warp *w, uint32_t *limit, bool *others)
{
    bool is_alone = w->fragment_count == 1 && w->fragments[0].state == FRAGMENT_READY;
    if (!is_alone) return fragment_choose(w, limit, others);
    w->fair = *others = false;
    *limit = UINT32_MAX;
    return &w->fragments[0];
}
/* Splits `lanes` off a fragment. Returns the new fragment, which is at instruction `pc`. Pointers
 * to fragments stay valid. */
struct fragment *fragment_split(struct warp *, struct fragment *, uint32_t lanes, uint32_t pc);
static inline void fragment_remove(struct warp *w, struct fragment *f)
{
    struct fragment *last = &w->fragments[--w->fragment_count];
    frame_release(f->frame);
    if (f != last) *f = *last;
}

#endif

#include "fragment.h"
#include "member_mask.h"
#include "frame.h"
#include "random_schedule.h"

struct fragment *fragment_split(struct warp *w, struct fragment *f, uint32_t lanes, uint32_t pc)
{
    struct fragment *other = &w->fragments[w->fragment_count++];
    *other = (struct fragment){
        .frame = f->frame, .pc = pc, .mask = lanes, .state = FRAGMENT_READY, .turn = f->turn};
    frame_hold(f->frame);
    f->mask &= ~lanes;
    return other;
}

/* Fragments at a barrier do not merge: each has arrived separately. */
static bool stays_apart(const struct fragment *f)
{
    return f->state == FRAGMENT_AT_BARRIER || f->state == FRAGMENT_WAITING_FOR_PHASE;
}

static bool can_merge(const struct fragment *a, const struct fragment *b)
{
    return a->pc == b->pc && a->frame == b->frame && !stays_apart(a) && !stays_apart(b);
}

static void merge_all(struct warp *w)
{
    for (unsigned i = 0; i < w->fragment_count; i++)
        for (unsigned k = w->fragment_count; k-- > i + 1;)
            if (can_merge(&w->fragments[i], &w->fragments[k])) {
                w->fragments[i].mask |= w->fragments[k].mask;
                w->fragments[i].state =
                    FRAGMENT_READY; /* a waiting fragment checks its masks again */
                fragment_remove(w, &w->fragments[k]);
            }
}

/* Wakes the fragments in which a member mask is complete: all its live lanes have come. Returns how
 * many fragments still wait. */
static unsigned wake_complete(struct warp *w)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_WAITING_FOR_LANES) continue;
        if (member_mask_complete(w, f, member_mask_active(w, f)))
            f->state = FRAGMENT_READY;
        else
            waiting++;
    }
    return waiting;
}

/* The deeper call runs first; in the same depth, the lower instruction. */
static bool comes_before(const struct fragment *a, const struct fragment *b)
{
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static bool is_better(const struct warp *w, const struct fragment *f, const struct fragment *than,
                      unsigned ready)
{
    if (w->block->launch->random) return !random_below(w->block->launch, ready);
    return w->fair ? f->turn < than->turn : comes_before(f, than);
}

struct fragment *fragment_choose(struct warp *w, uint32_t *limit, bool *others)
{
    struct fragment *chosen = NULL;
    unsigned ready = 0;
    merge_all(w);
    unsigned waiting_for_lanes = wake_complete(w);
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_READY) continue;
        ready++;
        if (!chosen || is_better(w, f, chosen, ready)) chosen = f;
    }
    /* Lanes may still come to the same instruction. Only if they cannot, lanes at two instructions
     * may complete a mask together. */
    if ((!chosen || w->fair) && waiting_for_lanes > 1 && member_mask_run_joint(w))
        return fragment_choose(w, limit, others);
    w->fair = false;
    *others = ready > 1;
    *limit = UINT32_MAX;
    for (unsigned i = 0; chosen && i < w->fragment_count; i++) {
        const struct fragment *f = &w->fragments[i];
        if (!stays_apart(f) && f->frame == chosen->frame && f->pc > chosen->pc && f->pc < *limit)
            *limit = f->pc;
    }
    return chosen;
}

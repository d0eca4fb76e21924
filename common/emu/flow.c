#include "flow.h"
#include "frame.h"
#include "race.h"

void flow_start(struct warp *w, uint32_t lanes)
{
    w->live = lanes;
    w->exited = 0;
    w->fragment_count = 1;
    w->fragments[0] = (struct fragment){.frame = &w->root, .mask = lanes, .state = FRAGMENT_READY};
    w->turns = 0;
    w->fair = false;
}

void flow_remove(struct warp *w, struct fragment *f)
{
    frame_release(f->frame);
    *f = w->fragments[--w->fragment_count];
}

struct fragment *flow_split(struct warp *w, struct fragment *f, uint32_t lanes, uint32_t pc)
{
    struct fragment *other = &w->fragments[w->fragment_count++];
    *other = (struct fragment){
        .frame = f->frame, .pc = pc, .mask = lanes, .state = FRAGMENT_READY, .turn = f->turn};
    frame_hold(f->frame);
    f->mask &= ~lanes;
    return other;
}

/* Those at a barrier stay apart: they have arrived, each in its own right. */
static bool can_merge(const struct fragment *a, const struct fragment *b)
{
    return a->pc == b->pc && a->frame == b->frame && a->state != FRAGMENT_AT_BARRIER &&
           b->state != FRAGMENT_AT_BARRIER;
}

static void merge_all(struct warp *w)
{
    for (unsigned i = 0; i < w->fragment_count; i++)
        for (unsigned k = w->fragment_count; k-- > i + 1;)
            if (can_merge(&w->fragments[i], &w->fragments[k])) {
                w->fragments[i].mask |= w->fragments[k].mask;
                w->fragments[i].state = FRAGMENT_READY; /* one that waits looks again */
                flow_remove(w, &w->fragments[k]);
            }
}

/* The member mask of the warp-wide instruction that a fragment is at. */
static uint32_t members_of(const struct warp *w, const struct fragment *f)
{
    const struct insn *insn = &w->block->launch->kernel->code[f->pc];
    return ((const uint32_t *)frame_slot(w, f, insn->members))[__builtin_ctz(f->mask)];
}

/* A fragment waits to converge until every live lane of its member mask is in it. */
static void wake_converged(struct warp *w)
{
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_CONVERGING) continue;
        if (!(members_of(w, f) & w->live & ~f->mask)) f->state = FRAGMENT_READY;
    }
}

/* __syncwarp() in both arms of an if: lanes wait at different instructions, with the same member
 * mask. When all of them have come to one, they go on. */
static bool release_warp_sync(struct warp *w)
{
    const struct insn *code = w->block->launch->kernel->code;
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_CONVERGING || code[f->pc].control != CONTROL_WARP_SYNC) continue;
        uint32_t members = members_of(w, f), waiting = 0;
        for (int release = 0; release <= 1; release++)
            for (unsigned k = 0; k < w->fragment_count; k++) {
                struct fragment *g = &w->fragments[k];
                if (g->state != FRAGMENT_CONVERGING || code[g->pc].control != CONTROL_WARP_SYNC ||
                    members_of(w, g) != members)
                    continue;
                if (!release) {
                    waiting |= g->mask;
                } else if (!(members & w->live & ~waiting)) {
                    g->state = FRAGMENT_READY;
                    g->pc++;
                }
            }
        if (f->state != FRAGMENT_READY) continue;
        if (w->block->race) race_warp_sync(w, waiting & members);
        return true;
    }
    return false;
}

/* Inside a call before behind it; then the lowest instruction. */
static bool comes_before(const struct fragment *a, const struct fragment *b)
{
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

struct fragment *flow_next(struct warp *w, uint32_t *limit, bool *others)
{
    struct fragment *chosen = NULL;
    unsigned ready = 0;
    if (w->fragment_count > 1) merge_all(w);
    wake_converged(w);
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_READY) continue;
        ready++;
        if (!chosen || (w->fair ? f->turn < chosen->turn : comes_before(f, chosen))) chosen = f;
    }
    if (!chosen && release_warp_sync(w)) return flow_next(w, limit, others);
    w->fair = false;
    *others = ready > 1;
    *limit = UINT32_MAX;
    for (unsigned i = 0; chosen && i < w->fragment_count; i++) {
        const struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_AT_BARRIER && f->frame == chosen->frame && f->pc > chosen->pc &&
            f->pc < *limit)
            *limit = f->pc;
    }
    return chosen;
}

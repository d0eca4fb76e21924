/* stuck.c — when no thread of a cluster can go on: who waits for whom. */
#include "stuck.h"
#include "barrier.h"
#include "frame.h"

/* The fragment to speak of, and how many threads of its block have exited. */
struct stuck {
    struct warp *warp;
    const struct fragment *fragment;
    const struct insn *insn;
    unsigned exited;
};

static unsigned threads_exited(const struct block *block)
{
    unsigned exited = 0;
    for (unsigned i = 0; i < block->warp_count; i++)
        exited += (unsigned)__builtin_popcount(block->warps[i].exited);
    return exited;
}

/* A fragment that waits for lanes of its own warp says more than one at a barrier. */
static bool says_more(const struct fragment *a, const struct fragment *b)
{
    return !b || (a->state == FRAGMENT_CONVERGING && b->state != FRAGMENT_CONVERGING);
}

static struct stuck look_around(struct cluster *cluster)
{
    struct stuck stuck = {0};
    for (unsigned b = 0; b < cluster->size; b++) {
        struct block *block = cluster->blocks[b];
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            for (unsigned k = 0; k < w->fragment_count; k++) {
                const struct fragment *f = &w->fragments[k];
                if (!says_more(f, stuck.fragment)) continue;
                stuck = (struct stuck){w, f, &block->launch->kernel->code[f->pc],
                                       threads_exited(block)};
            }
        }
    }
    return stuck;
}

void resolve_stuck(struct cluster *cluster)
{
    struct stuck s = look_around(cluster);
    int lane = __builtin_ctz(s.fragment->mask);
    if (s.fragment->state == FRAGMENT_CONVERGING) {
        uint32_t members =
            ((const uint32_t *)frame_slot(s.warp, s.fragment, s.insn->members))[lane];
        fault(s.warp, s.insn, lane, EMU_LAUNCH_FAILURE,
              "deadlock: lanes 0x%08x wait here for lanes 0x%08x of their member mask 0x%08x, "
              "which wait elsewhere",
              s.fragment->mask, members & s.warp->live & ~s.fragment->mask, members);
        return;
    }
    struct block *block = s.warp->block;
    const struct barrier *barrier = &block->barriers[s.fragment->barrier];
    bool exits_explain = barrier->arrived + s.exited >= barrier->expected;
    if (exits_explain && block->launch->allow_exited) {
        barrier_release(block, s.fragment->barrier);
        return;
    }
    if (exits_explain)
        fault(s.warp, s.insn, lane, EMU_LAUNCH_FAILURE,
              "a barrier that not all threads reach: %u of %u threads wait here, %u have exited "
              "(today's GPUs let this pass, and so does EMU_ALLOW_EXITED=1; it is undefined all "
              "the same)",
              barrier->arrived, barrier->expected, s.exited);
    else
        fault(s.warp, s.insn, lane, EMU_LAUNCH_FAILURE,
              "deadlock: %u of %u threads wait at this barrier, number %u, and the others wait "
              "elsewhere",
              barrier->arrived, barrier->expected, s.fragment->barrier);
}

static bool give_up_in(struct block *block, unsigned seconds)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        for (unsigned k = 0; k < w->fragment_count; k++) {
            const struct fragment *f = &w->fragments[k];
            if (f->state != FRAGMENT_READY) continue;
            fault(
                w, &block->launch->kernel->code[f->pc], __builtin_ctz(f->mask), EMU_LAUNCH_TIMEOUT,
                "its block has run for %u seconds without writing memory (EMU_TIMEOUT=SECONDS has "
                "more patience): does this loop wait for what can never come?",
                seconds);
            return true;
        }
    }
    return false;
}

void give_up(struct cluster *cluster, unsigned seconds)
{
    for (unsigned b = 0; b < cluster->size; b++)
        if (give_up_in(cluster->blocks[b], seconds)) return;
}

/* barrier_barrier.c — the named barriers of a block (PTX ISA, "bar", "barrier"). */
#include "events.h"
#include "barrier.h"
#include "frame.h"
#include "common/emu/ptx/warp_ops.h"

/* Writes the result of a bar.red: the predicates of all threads combined. */
static void tell_result(struct warp *w, const struct fragment *f, const struct barrier *barrier)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    uint32_t *d = i->d == NO_SLOT ? NULL : frame_slot(w, f, i->d);
    bool holds = i->barrier.result == BARRIER_AND ? barrier->true_count == barrier->arrived
                                                  : barrier->true_count > 0;
    if (i->barrier.result == BARRIER_COUNT) {
        for (int l = 0; l < WARP; l++)
            if (f->mask >> l & 1) d[l] = barrier->true_count;
    } else if (i->barrier.result != BARRIER_NOTHING) {
        *d = (*d & ~f->mask) | (holds ? f->mask : 0);
    }
}

void barrier_release(struct block *block, unsigned number)
{
    if (announces(block, ANNOUNCE_ORDER)) event_barrier_release(block, number);
    for (unsigned i = 0; i < block->warp_count; i++)
        for (unsigned k = 0; k < block->warps[i].fragment_count; k++) {
            struct fragment *f = &block->warps[i].fragments[k];
            if (f->state != FRAGMENT_AT_BARRIER || f->barrier != number) continue;
            tell_result(&block->warps[i], f, &block->barriers[number]);
            f->state = FRAGMENT_READY;
            f->pc++;
        }
    block->barriers[number] = (struct barrier){0};
    block->epoch++;
    block->passed = true;
}

/* Does a fragment name the same number of threads as those that already wait? A fault if not. A GPU
 * counts whole warps. An H200 reports "illegal instruction". */
static bool agrees(struct warp *w, int lane, const struct insn *i, unsigned number, unsigned asked)
{
    const struct barrier *barrier = &w->block->barriers[number];
    if (!barrier->expected || (asked + WARP - 1) / WARP == (barrier->asked + WARP - 1) / WARP)
        return true;
    fault_arguments(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
                    "barrier %u is waited for by %u threads here and %u elsewhere", number, asked,
                    barrier->asked);
    return false;
}

void barrier_arrive(struct warp *w, struct fragment *f, const struct insn *i, bool waits)
{
    struct block *block = w->block;
    int lane = __builtin_ctz(f->mask);
    uint32_t number = ((const uint32_t *)slot_at(w, i->barrier.number))[lane];
    slot named = i->barrier.threads;
    uint32_t threads = named == NO_SLOT ? 0 : ((const uint32_t *)slot_at(w, named))[lane];
    if (number >= MAX_BARRIERS) {
        fault_arguments(w, i, lane, EMU_LAUNCH_FAILURE, "barrier %u does not exist: a block has %d",
                        number, MAX_BARRIERS);
        return;
    }
    if (threads % WARP) { /* a fault on an H200, too */
        fault_arguments(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
                        "barrier %u waits for %u threads, which is not a multiple of %d", number,
                        threads, WARP);
        return;
    }
    unsigned asked = threads ? threads : block->threads;
    if (!agrees(w, lane, i, number, asked)) return;
    if (announces(w->block, ANNOUNCE_ARGUMENTS)) event_barrier_arguments(w, f, i, number, threads);
    struct barrier *barrier = &block->barriers[number];
    unsigned expected = asked < block->threads ? asked : block->threads;
    block->used_barriers = true;
    barrier->asked = asked;
    barrier->expected = expected;
    barrier->arrived += (unsigned)__builtin_popcount(f->mask);
    if (i->barrier.result != BARRIER_NOTHING) {
        uint32_t p = *(const uint32_t *)slot_at(w, i->barrier.predicate) ^
                     (i->barrier.negated ? ALL_LANES : 0);
        barrier->true_count += (unsigned)__builtin_popcount(p & f->mask);
    }
    if (waits) {
        f->state = FRAGMENT_AT_BARRIER;
        f->barrier = number;
    } else {
        if (announces(block, ANNOUNCE_ORDER)) event_barrier_arrive(w, f->mask, number);
        f->pc++;
    }
    if (barrier->arrived >= expected) barrier_release(block, number);
}

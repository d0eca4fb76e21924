#include "block.h"
#include "device.h"
#include "exec.h"
#include "flow.h"
#include "frame.h"
#include "sched.h"
#include "warp_ops.h"
#include <stdlib.h>
#include <string.h>

enum { SHARED_POISON = 0xCD };

static size_t align_up(size_t bytes)
{
    return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

struct block *block_new(struct launch *launch)
{
    const struct emu_kernel *kernel = launch->kernel;
    unsigned threads = launch->block.x * launch->block.y * launch->block.z,
             warps = (threads + WARP - 1) / WARP;
    size_t area = align_up(kernel->area_bytes * WARP), stack = align_up(kernel->stack_bytes * WARP);
    size_t per_warp = kernel->register_bytes + kernel->special_bytes + area + stack;
    size_t shared = align_up(launch->shared_bytes);
    size_t bytes = shared + warps * per_warp;
    struct block *block = calloc(1, sizeof *block);
    struct warp *all = calloc(warps, sizeof *all);
    uint8_t *memory = bytes ? aligned_alloc(SLOT_ALIGNMENT, bytes) : NULL;
    if (memory)
        memset(memory, 0, bytes); /* registers that are read before they are written: zeros */
    if (!block || !all || (bytes && !memory)) {
        free(block);
        free(all);
        free(memory);
        return NULL;
    }
    *block = (struct block){.launch = launch,
                            .is_new = true,
                            .threads = threads,
                            .warp_count = warps,
                            .warps = all,
                            .shared = memory,
                            .shared_bytes = launch->shared_bytes,
                            .memory = memory};
    for (unsigned i = 0; i < warps; i++) {
        all[i].index = i;
        all[i].block = block;
        uint8_t *own = memory + shared + i * per_warp;
        all[i].bank[BANK_SPECIALS] = own + kernel->register_bytes;
        all[i].bank[BANK_CONSTANTS] = kernel->constants;
        all[i].local = own + kernel->register_bytes + kernel->special_bytes + area;
        all[i].root = (struct frame){.registers = own,
                                     .area = own + kernel->register_bytes + kernel->special_bytes,
                                     .area_bytes = kernel->area_bytes,
                                     .local_end = kernel->info.local_bytes};
    }
    return block;
}

void block_free(struct block *block)
{
    if (!block) return;
    /* After a fault lanes may still be inside calls. */
    for (unsigned i = 0; i < block->warp_count; i++)
        while (block->warps[i].fragment_count)
            flow_remove(&block->warps[i], &block->warps[i].fragments[0]);
    free(block->memory);
    free(block->warps);
    free(block);
}

/* ---- starting ------------------------------------------------------------------------------ */

static uint32_t special_value(const struct warp *w, enum special_register which, unsigned lane)
{
    const struct block *block = w->block;
    const struct launch *launch = block->launch;
    unsigned thread = w->index * WARP + lane, x = launch->block.x, y = launch->block.y;
    uint32_t bit = UINT32_C(1) << lane;
    switch (which) {
    case SPECIAL_TID_X: return thread % x;
    case SPECIAL_TID_Y: return thread / x % y;
    case SPECIAL_TID_Z: return thread / x / y;
    case SPECIAL_NTID_X: return x;
    case SPECIAL_NTID_Y: return y;
    case SPECIAL_NTID_Z: return launch->block.z;
    case SPECIAL_CTAID_X: return block->id.x;
    case SPECIAL_CTAID_Y: return block->id.y;
    case SPECIAL_CTAID_Z: return block->id.z;
    case SPECIAL_NCTAID_X: return launch->grid.x;
    case SPECIAL_NCTAID_Y: return launch->grid.y;
    case SPECIAL_NCTAID_Z: return launch->grid.z;
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return w->index;
    case SPECIAL_NWARPID: return (uint32_t)launch->emu->gpu->threads_per_sm / WARP;
    case SPECIAL_LANEMASK_EQ: return bit;
    case SPECIAL_LANEMASK_LE: return bit | (bit - 1);
    case SPECIAL_LANEMASK_LT: return bit - 1;
    case SPECIAL_LANEMASK_GE: return ~(bit - 1);
    case SPECIAL_LANEMASK_GT: return ~(bit | (bit - 1));
    case SPECIAL_SMID: return (uint32_t)(block->index % (unsigned)launch->emu->gpu->sms);
    case SPECIAL_NSMID: return (uint32_t)launch->emu->gpu->sms;
    case SPECIAL_GRIDID: return 0;
    case SPECIAL_DYNAMIC_SHARED: return (uint32_t)launch->dynamic_shared;
    case SPECIAL_TOTAL_SHARED: return (uint32_t)launch->shared_bytes;
    case SPECIAL_REGISTERS: break;
    }
    return 0;
}

/* Do the lanes have other values in another block? */
static bool depends_on_block(enum special_register which)
{
    return which == SPECIAL_CTAID_X || which == SPECIAL_CTAID_Y || which == SPECIAL_CTAID_Z ||
           which == SPECIAL_SMID;
}

static void start_warp(struct warp *w)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    unsigned left = w->block->threads - w->index * WARP;
    w->carry = 0;
    flow_start(w, left >= WARP ? ALL_LANES : (UINT32_C(1) << left) - 1);
    for (size_t i = 0; i < kernel->special_count; i++) {
        if (!w->block->is_new && !depends_on_block(kernel->specials[i].which)) continue;
        uint32_t *lanes = slot_at(w, kernel->specials[i].slot);
        for (unsigned lane = 0; lane < WARP; lane++)
            lanes[lane] = special_value(w, kernel->specials[i].which, lane);
    }
}

void block_start(struct block *block, uint64_t index)
{
    struct emu_dim grid = block->launch->grid;
    block->index = index;
    block->id = (struct emu_dim){(unsigned)(index % grid.x), (unsigned)(index / grid.x % grid.y),
                                 (unsigned)(index / grid.x / grid.y)};
    block->epoch = 0;
    block->changed = false;
    block->idle = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    if (block->shared_bytes) memset(block->shared, SHARED_POISON, block->shared_bytes);
    for (unsigned i = 0; i < block->warp_count; i++) start_warp(&block->warps[i]);
    block->is_new = false;
}

/* ---- barriers ------------------------------------------------------------------------------ */

/* bar.red: what the predicates of all threads came to */
static void tell_result(struct warp *w, const struct fragment *f, const struct barrier *barrier)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    uint32_t *d = i->d == NO_SLOT ? NULL : frame_slot(w, f, i->d);
    bool holds = i->function == BARRIER_AND ? barrier->true_count == barrier->arrived
                                            : barrier->true_count > 0;
    if (i->function == BARRIER_COUNT) {
        for (int l = 0; l < WARP; l++)
            if (f->mask >> l & 1) d[l] = barrier->true_count;
    } else if (i->function != BARRIER_NOTHING) {
        *d = (*d & ~f->mask) | (holds ? f->mask : 0);
    }
}

static void release(struct block *block, unsigned number)
{
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
    block->changed = true;
}

void barrier_arrive(struct warp *w, struct fragment *f, const struct insn *i, bool waits)
{
    struct block *block = w->block;
    int lane = __builtin_ctz(f->mask);
    uint32_t number = ((const uint32_t *)slot_at(w, i->a))[lane];
    uint32_t threads = i->b == NO_SLOT ? 0 : ((const uint32_t *)slot_at(w, i->b))[lane];
    if (number >= MAX_BARRIERS) {
        fault(w, i, lane, EMU_LAUNCH_FAILURE, "barrier %u does not exist: a block has %d", number,
              MAX_BARRIERS);
        return;
    }
    struct barrier *barrier = &block->barriers[number];
    unsigned expected = threads && threads < block->threads ? threads : block->threads;
    if (barrier->expected && barrier->expected != expected) {
        fault(w, i, lane, EMU_LAUNCH_FAILURE,
              "barrier %u is waited for by %u threads here and %u elsewhere", number, expected,
              barrier->expected);
        return;
    }
    barrier->expected = expected;
    barrier->arrived += (unsigned)__builtin_popcount(f->mask);
    if (i->function != BARRIER_NOTHING) {
        uint32_t p = *(const uint32_t *)slot_at(w, i->c) ^ (i->flip_c ? ALL_LANES : 0);
        barrier->true_count += (unsigned)__builtin_popcount(p & f->mask);
    }
    if (waits) {
        f->state = FRAGMENT_AT_BARRIER;
        f->barrier = number;
    } else {
        f->pc++;
    }
    if (barrier->arrived >= expected) release(block, number);
}

/* ---- when nothing can go on ---------------------------------------------------------------- */

struct stuck {
    struct warp *warp;
    const struct fragment *fragment;
    const struct insn *insn;
    unsigned exited;
};

static struct stuck look_around(struct block *block)
{
    struct stuck stuck = {0};
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        stuck.exited += (unsigned)__builtin_popcount(w->exited);
        for (unsigned k = 0; k < w->fragment_count; k++) {
            const struct fragment *f = &w->fragments[k];
            /* Report a fragment that waits for lanes of its own warp rather than one at a
             * barrier. */
            if (stuck.fragment &&
                (stuck.fragment->state == FRAGMENT_CONVERGING || f->state != FRAGMENT_CONVERGING))
                continue;
            stuck.warp = w;
            stuck.fragment = f;
            stuck.insn = &block->launch->kernel->code[f->pc];
        }
    }
    return stuck;
}

/* Says who waits for whom, or, if that is allowed, lets a barrier go without the threads that have
 * exited. */
static void resolve_stuck(struct block *block)
{
    struct stuck s = look_around(block);
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
    const struct barrier *barrier = &block->barriers[s.fragment->barrier];
    bool exits_explain = barrier->arrived + s.exited >= barrier->expected;
    if (exits_explain && block->launch->allow_exited) {
        release(block, s.fragment->barrier);
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

void block_give_up(struct block *block, unsigned seconds)
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
            return;
        }
    }
}

/* ---- running ------------------------------------------------------------------------------- */

bool block_run(struct block *block, struct insn_counts *counts)
{
    for (;;) {
        bool progress = false, slice_over = false, alive = false;
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            if (!w->fragment_count) continue;
            uint64_t turns = w->turns;
            w->counts = counts;
            enum warp_stop stop = warp_run(w, WARP_SLICE);
            if (stop == WARP_FAULT) return true;
            if (stop == WARP_SLICE_OVER) slice_over = true;
            if (stop != WARP_DONE) alive = true;
            progress = progress || w->turns != turns || stop == WARP_DONE;
        }
        if (!alive) return true;
        if (!progress) resolve_stuck(block);
        if (block->launch->error) return true;
        if (slice_over) return false;
    }
}

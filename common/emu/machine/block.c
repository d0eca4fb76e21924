#include "block.h"
#include "async.h"
#include "schedule.h"
#include "clocks.h"
#include "device.h"
#include "stray.h"
#include "events.h"
#include "exec.h"
#include "fragment.h"
#include "frame.h"
#include "local.h"
#include "scheduler.h"
#include "random_schedule.h"
#include "phase_wait.h"
#include <stdlib.h>
#include <string.h>

static size_t align_up(size_t bytes)
{
    return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

struct block *block_new(struct launch *launch)
{
    const struct emu_kernel *kernel = launch->kernel;
    unsigned threads = launch->block.x * launch->block.y * launch->block.z,
             warps = (threads + WARP - 1) / WARP;
    size_t area = align_up(kernel->area_bytes * WARP), stack = local_warp_bytes(kernel);
    size_t per_warp = kernel->register_bytes + kernel->special_bytes + area + stack;
    size_t reserved = kernel->reads_reserved ? launch->emu->gpu->shared_reserved : 0;
    size_t shared = align_up(stray_shared_bytes(launch->shared_bytes)) + reserved;
    size_t bytes = shared + warps * per_warp;
    struct block *block = calloc(1, sizeof *block);
    struct warp *all = calloc(warps, sizeof *all);
    /* Zeros, for registers that are read before they are written. The host provides only those
     * pages of a large allocation, such as local memory, that are used. */
    uint8_t *allocated = calloc(1, bytes + SLOT_ALIGNMENT);
    if (!block || !all || !allocated) {
        free(block);
        free(all);
        free(allocated);
        return NULL;
    }
    uint8_t *memory = allocated + -(uintptr_t)allocated % SLOT_ALIGNMENT;
    *block = (struct block){.launch = launch,
                            .is_new = true,
                            .threads = threads,
                            .warp_count = warps,
                            .warps = all,
                            .shared = memory,
                            .shared_bytes = reserved ? shared : launch->shared_bytes,
                            .reserved_offset = reserved ? shared - reserved : launch->shared_bytes,
                            .memory = allocated,
                            .memory_bytes = bytes};
    for (unsigned i = 0; i < warps; i++) {
        all[i].index = i;
        all[i].block = block;
        uint8_t *own = memory + shared + i * per_warp;
        all[i].bank[BANK_SPECIALS] = own + kernel->register_bytes;
        all[i].bank[BANK_CONSTANTS] = kernel->constants;
        all[i].own_shared = block->shared;
        all[i].own_shared_bytes = launch->cluster_size == 1 ? block->shared_bytes : 0;
        all[i].observed = launch->counting || announces(block, ANNOUNCE_ACCESSES);
        all[i].local = own + kernel->register_bytes + kernel->special_bytes + area;
        all[i].root = (struct frame){.registers = own,
                                     .area = own + kernel->register_bytes + kernel->special_bytes,
                                     .area_bytes = kernel->area_bytes,
                                     .local_end = kernel->info.local_bytes};
    }
    if (event_block_new(block)) return block;
    block_free(block);
    return NULL;
}

void block_free(struct block *block)
{
    if (!block) return;
    /* After a fault lanes may still be inside calls. */
    for (unsigned i = 0; i < block->warp_count; i++) {
        while (block->warps[i].fragment_count)
            fragment_remove(&block->warps[i], &block->warps[i].fragments[0]);
        frame_free_unused(&block->warps[i]);
    }
    event_block_free(block);
    async_free(block);
    free(block->runtime);
    free(block->memory);
    free(block->warps);
    free(block);
}

/* ---- starting -------------------------------------------------------------------------------- */

static void start_warp(struct warp *w)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    unsigned left = w->block->threads - w->index * WARP;
    w->carry = 0;
    w->root.local_end = kernel->info.local_bytes;
    if (kernel->stack_top != NO_SLOT) frame_start(w);
    fragment_start(w, left >= WARP ? ALL_LANES : (UINT32_C(1) << left) - 1);
    w->clock = w->fuel = w->earlier = 0;
    w->waited = NULL;
    w->slice = WARP_SLICE;
    w->polled = w->stored = NULL;
    w->spins = false;
    w->cluster_arrived = w->cluster_owes = 0;
    for (size_t i = 0; i < kernel->special_count; i++)
        special_fill(w, &kernel->specials[i], w->block->is_new);
}

static void start_shared(struct block *block)
{
    size_t reserved = block->shared_bytes - block->reserved_offset;
    memset(block->shared, FRESH_BYTE(block->launch->emu), block->reserved_offset);
    memset(block->shared + block->reserved_offset, 0, reserved);
}

void block_start(struct block *block, uint64_t index, unsigned x, unsigned y, unsigned z)
{
    block->index = index;
    block->id = (struct emu_dim){x, y, z};
    block->epoch = 0;
    block->changed = true; /* the start of a block is a change */
    block->changed_earlier = block->wrote = block->passed = false;
    block->busy = block->quiet = block->looked_at_time = block->looked_at_host = false;
    block->rounds = 0;
    block->executed = 0;
    block->ended = false;
    if (block->used_barriers) memset(block->barriers, 0, sizeof block->barriers);
    block->used_barriers = false;
    if (block->shared_bytes) start_shared(block);
    for (unsigned i = 0; i < block->warp_count; i++) start_warp(&block->warps[i]);
    block->is_new = false;
    if (block->async) async_start(block);
    if (block->runtime) memset(block->runtime, 0, (block->threads + 1) * sizeof *block->runtime);
    if (block->racecheck || block->initcheck) event_block_begin(block);
}

/* ---- running --------------------------------------------------------------------------------- */

void block_next_turn(struct block *block)
{
    block->changed = block->changed_earlier = block->wrote = block->passed = false;
    block->busy = block->quiet = block->looked_at_time = block->looked_at_host = false;
    block->rounds = 0;
    for (unsigned i = 0; i < block->warp_count; i++) warp_grant(&block->warps[i], WARP_SLICE);
}

static enum warp_stop run_warp(struct warp *w, struct insn_counts *counts)
{
    enum { SPIN_LENGTH = 1024 }; /* in instructions; as long as a slice of random_schedule.c */
    struct launch *launch = w->block->launch;
    w->counts = counts;
    phase_wait_poll(w);
    if (launch->random) warp_grant(w, random_slice(launch));
    uint64_t begun = w->clock - w->fuel;
    bool is_observed = announces(w->block, ANNOUNCE_TURNS);
    if (is_observed) event_turn(w);
    clocks_begin(w, begun);
    enum warp_stop stop = warp_run(w);
    if (is_observed) event_turn_end(w);
    uint64_t done = w->clock - w->fuel;
    w->block->executed += done - begun;
    clocks_end(w, done - begun);
    if (w->spins && done - w->spun_at > SPIN_LENGTH) w->spins = false;
    if (stop == WARP_SLICE_OVER && !w->spins && done != begun) w->block->busy = true;
    return stop;
}

/* A block whose threads pass many barriers and change no memory waits for another block. This is
 * checked once in QUIET_ROUNDS rounds, because it costs a comparison at each store. */
static bool is_quiet(struct block *block)
{
    enum { QUIET_ROUNDS = 64 };
    if (++block->rounds % QUIET_ROUNDS) return false;
    if (!block->changed) return block->quiet = true;
    block->changed = false;
    block->changed_earlier = true;
    return false;
}

enum block_stop block_run(struct block *block, struct insn_counts *counts)
{
    uint8_t order[MAX_WARPS]; /* of a random schedule */
    bool random = block->launch->random;
    for (bool ran = false;; ran = true) {
        bool progress = false, slice_over = false, alive = false;
        if (random) random_order(block->launch, order, block->warp_count);
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[random ? order[i] : i];
            if (!w->fragment_count) continue;
            if (block->launch->emu->interrupted) return BLOCK_SLICE_OVER;
            uint64_t turns = w->turns;
            enum warp_stop stop = run_warp(w, counts);
            if (stop == WARP_FAULT) return BLOCK_ENDED;
            if (stop == WARP_SLICE_OVER) slice_over = true;
            if (stop != WARP_DONE) alive = true;
            progress = progress || w->turns != turns || stop == WARP_DONE;
        }
        if (!alive) return BLOCK_ENDED;
        if (slice_over) return BLOCK_SLICE_OVER;
        if (!progress) return ran ? BLOCK_WAITS : BLOCK_STUCK;
        if (is_quiet(block)) return BLOCK_SLICE_OVER;
    }
}

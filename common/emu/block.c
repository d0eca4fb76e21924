#include "block.h"
#include "device.h"
#include "exec.h"
#include "flow.h"
#include "sched.h"
#include "watch.h"
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
    if (watch_block_new(block)) return block;
    block_free(block);
    return NULL;
}

void block_free(struct block *block)
{
    if (!block) return;
    /* After a fault lanes may still be inside calls. */
    for (unsigned i = 0; i < block->warp_count; i++)
        while (block->warps[i].fragment_count)
            flow_remove(&block->warps[i], &block->warps[i].fragments[0]);
    watch_block_free(block);
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

void block_start(struct block *block, struct emu_dim id)
{
    struct emu_dim grid = block->launch->grid;
    block->index = id.x + (uint64_t)grid.x * (id.y + (uint64_t)grid.y * id.z);
    block->id = id;
    block->epoch = 0;
    block->changed = false;
    block->ended = false;
    memset(block->barriers, 0, sizeof block->barriers);
    if (block->shared_bytes) memset(block->shared, SHARED_POISON, block->shared_bytes);
    for (unsigned i = 0; i < block->warp_count; i++) start_warp(&block->warps[i]);
    block->is_new = false;
    watch_block_start(block);
}

/* ---- running ------------------------------------------------------------------------------- */

enum block_stop block_run(struct block *block, struct insn_counts *counts)
{
    for (bool ran = false;;) {
        bool progress = false, slice_over = false, alive = false;
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            if (!w->fragment_count) continue;
            uint64_t turns = w->turns;
            w->counts = counts;
            enum warp_stop stop = warp_run(w, WARP_SLICE);
            if (stop == WARP_FAULT) return BLOCK_ENDED;
            if (stop == WARP_SLICE_OVER) slice_over = true;
            if (stop != WARP_DONE) alive = true;
            progress = progress || w->turns != turns || stop == WARP_DONE;
        }
        if (!alive) return BLOCK_ENDED;
        if (slice_over) return BLOCK_SLICE_OVER;
        if (!progress) return ran ? BLOCK_WAITS : BLOCK_STUCK;
        ran = true;
    }
}

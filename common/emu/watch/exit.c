/*
 * exit.c — racecheck: a block that exits while other blocks of its cluster use its shared
 * memory.
 *
 * A block may exit if the last use by each thread of the other blocks happens before one of the
 * block's own threads. A strong store, such as an arrival at the block's mbarrier, may also have
 * been observed by a strong load or a wait of the block. To know this, uses are numbered, and a
 * word keeps the number at which it was last read (struct sync_word). Strict readers need no fence
 * here: the exit cannot come before a read that decides when the thread goes on.
 */
#include "common/emu/machine/async.h"
#include "access.h"
#include "common/emu/machine/shared.h"
#include <stdlib.h>

/* A thread's last use of the memory, and its last strong store there. */
struct use {
    record record;
    uint64_t serial; /* counts the uses of remote shared memory */
    uint32_t offset;
    uint16_t place;
};
struct remote_use {
    struct use last, strong;
};

void race_exit_reset(struct race_block *race)
{
    free(race->remote);
    race->remote = NULL;
}

static size_t count_of(const struct block *block)
{
    return (size_t)block->cluster->size * block->threads;
}

void race_note_remote(const struct lane_access *t, uint64_t offset)
{
    const struct block *block = t->w->block;
    struct race_block *owner = t->owner;
    unsigned thread = t->w->index * WARP + (unsigned)t->lane;
    if (agent_of(t->kind) != BY_THREAD) return;
    if (!owner->remote && !(owner->remote = calloc(count_of(block), sizeof *owner->remote))) {
        owner->device->off = true;
        return;
    }
    bool is_strong = t->writes && (t->kind & KIND_MASK) != KIND_WEAK;
    struct remote_use *remote = &owner->remote[block->rank * block->threads + thread];
    *(is_strong ? &remote->strong : &remote->last) = (struct use){
        lane_record(t, 1), ++owner->device->serial, (uint32_t)offset, (uint16_t)t->place};
}

static bool is_over(const struct block *block, record last)
{
    for (unsigned i = 0; i < block->warp_count; i++)
        for (int lane = 0; lane < WARP; lane++) {
            uint32_t more = block->racecheck->warps[i].has_acquired;
            if ((!lane || more & bit_of(lane)) && lane_is_after(&block->warps[i], lane, last))
                return true;
        }
    return false;
}

static bool was_read(const struct block *block, const struct use *use)
{
    const struct sync_word *word =
        sync_word_at(&block->racecheck->words, use->offset / GRANULE + 1);
    return word && word->last_read >= use->serial;
}

static unsigned exit_place(const struct emu_kernel *kernel)
{
    size_t place = kernel->function->instruction_count;
    return place < UNKNOWN_PLACE ? (unsigned)place : UNKNOWN_PLACE;
}

static void check_use(struct block *block, const struct use *use, bool is_strong)
{
    const struct emu_kernel *kernel = block->launch->kernel;
    if (!record_bytes(use->record) || is_over(block, use->record) ||
        (is_strong && was_read(block, use)))
        return;
    race_report(&block->warps[0], &kernel->code[kernel->function->instruction_count], 0,
                &(struct conflict){.hazard = USE_BEFORE_EXIT,
                                   .before = use->record,
                                   .before_place = use->place,
                                   .space = PTX_SHARED,
                                   .address = use->offset});
}

void event_block_end(struct block *block)
{
    const struct race_block *race = block->racecheck;
    if (race->device->off || !race->remote) return;
    for (unsigned i = 0; i < block->warp_count; i++)
        event_reader_fence(&block->warps[i], ALL_LANES, SCOPE_DEVICE);
    for (size_t k = 0; k < count_of(block); k++) {
        check_use(block, &race->remote[k].last, false);
        check_use(block, &race->remote[k].strong, true);
    }
}

void event_use_after_end(struct warp *w, const struct insn *i, int lane, const struct block *owner,
                         uint64_t offset)
{
    bool is_copy = i->fn == op_copy || i->fn == op_bulk;
    struct record_parts before = {.block = owner->index, .time = AT_ONCE, .bytes = 1};
    race_report(w, i, lane,
                &(struct conflict){.hazard = USE_AFTER_EXIT,
                                   .agent = is_copy ? BY_COPY : BY_THREAD,
                                   .before = record_of(layout_of(w), before),
                                   .before_place = exit_place(w->block->launch->kernel),
                                   .space = PTX_SHARED,
                                   .address = offset});
}

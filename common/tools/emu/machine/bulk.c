/* bulk.c — cp.async.bulk and cp.reduce.async.bulk: one thread copies a range of memory (PTX ISA,
 * "cp.async.bulk"), or the box of a tensor, whose bytes tensor.c finds.
 *
 * A copy into shared memory is queued at the block whose mbarrier it completes at. A copy into
 * global memory is queued at its own block and belongs to a group of its thread. A wait for the
 * reads only (.wait_group.read) saves the source's bytes and leaves the write for later. */
#include "async.h"
#include "device.h"
#include "events.h"

enum { BULK_UNIT = 16 }; /* addresses and sizes are multiples of it */

struct bulk_copy {
    struct bulk_copy *next;
    struct warp *warp;
    const struct insn *insn;
    int lane;
    uint32_t group;
    uint8_t *to, *from; /* of a tensor: its first element, and the box's first byte */
    uint64_t bytes;
    uint8_t *taken; /* the source's bytes after a wait for the read; else NULL */
    struct shared_place mbarrier;
    struct copy_mark mark;  /* from event_copy_begin() */
    struct tensor_box *box; /* of a tensor, else NULL; in the queue it is own[0] */
    struct tensor_box own[];
};

void bulk_copies_free(struct bulk_copy **list)
{
    while (*list) {
        struct bulk_copy *next = (*list)->next;
        free((*list)->taken);
        free(*list);
        *list = next;
    }
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* Announces a copy's access to a range, unit by unit. */
static void announce(struct warp *w, const struct insn *i, struct access *access, uint64_t address,
                     uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += BULK_UNIT) {
        for (int l = 0; l < WARP; l++) access->address[l] = address + at;
        event_access(w, i, access);
    }
}

/* The bytes of shared memory that belong to a copy. */
static uint64_t span_of(const struct bulk_copy *copy)
{
    return copy->box ? copy->box->span : copy->bytes;
}

/* Checks a range of global memory; *delta as in tensor_find(). False after a fault. */
static bool find_global(struct warp *w, const struct bulk_copy *copy, uint64_t address,
                        int64_t *delta)
{
    struct range range;
    char nearest[200];
    if (copy->box) return tensor_find(w, copy->insn, copy->lane, copy->box, delta);
    if (address % BULK_UNIT) {
        fault(w, copy->insn, copy->lane, EMU_MISALIGNED_ADDRESS,
              "global address 0x%llx of a bulk copy is not a multiple of %d",
              (unsigned long long)address, BULK_UNIT);
        return false;
    }
    if (!device_range(w->block->launch->emu, address, &range) ||
        copy->bytes > range.bytes - (address - range.base)) {
        device_describe_address(w->block->launch->emu, address, nearest, sizeof nearest);
        fault(w, copy->insn, copy->lane, EMU_ILLEGAL_ADDRESS,
              "a bulk copy of %llu bytes at global address 0x%llx is out of bounds (%s)",
              (unsigned long long)copy->bytes, (unsigned long long)address, nearest);
        return false;
    }
    *delta = range.delta;
    return true;
}

/* Checks and announces one side of a copy. Returns the host's address of its bytes; NULL after a
 * fault. */
static uint8_t *find(struct warp *w, const struct bulk_copy *copy, const struct address *operand,
                     enum operation operation, enum agent agent)
{
    const struct insn *i = copy->insn;
    int lane = copy->lane;
    uint64_t address = address_of(w, operand, lane), host;
    enum ptx_space space = operand->space;
    struct shared_place place = {.owner = w->block};
    if (space != PTX_GLOBAL) {
        unsigned alignment = copy->box ? TENSOR_ALIGNMENT : BULK_UNIT;
        if (!shared_find(w, i, lane, space, address, span_of(copy), alignment, &place)) return NULL;
        address = place.offset;
        host = (uint64_t)(uintptr_t)place.owner->shared;
        space = PTX_SHARED;
        if (copy->box) copy->box->offset = place.offset;
    } else {
        int64_t delta;
        if (!find_global(w, copy, address, &delta)) return NULL;
        if (copy->box) address = copy->box->map.address;
        host = (uint64_t)delta;
    }
    if (announces(w->block, ANNOUNCE_ACCESSES)) {
        struct access access;
        access_make(&access, operation, space, UINT32_C(1) << lane, BULK_UNIT);
        access.agent = agent;
        access.copy = copy->mark;
        access.owner = place.owner;
        access.host = host;
        if (copy->box)
            tensor_announce(w, i, copy->box, &access);
        else
            announce(w, i, &access, address, copy->bytes);
    }
    return (uint8_t *)(uintptr_t)(host + address);
}

/* `last` is the list's last copy, or NULL if that is not known. */
static void append(struct bulk_copy **list, struct bulk_copy **last, const struct bulk_copy *copy)
{
    struct bulk_copy *kept =
        allocated(malloc(sizeof *kept + (copy->box ? sizeof *copy->box : 0)));
    *kept = *copy;
    if (copy->box) *(kept->box = kept->own) = *copy->box;
    if (*last) list = &(*last)->next;
    while (*list) list = &(*list)->next;
    *list = *last = kept;
}

/* Issues a copy to one block, which completes at an mbarrier there. */
static void issue_to_shared(struct warp *w, const struct insn *i, struct bulk_copy copy,
                            const struct address *to, const struct address *mbarrier)
{
    if (!shared_find(w, i, copy.lane, mbarrier->space, address_of(w, mbarrier, copy.lane),
                     sizeof(uint64_t), sizeof(uint64_t), &copy.mbarrier) ||
        !mbarrier_check(w, i, copy.lane, &copy.mbarrier))
        return;
    bool is_ordered = announces(w->block, ANNOUNCE_ORDER);
    if (is_ordered) event_mbarrier_use(w, i, copy.lane, &copy.mbarrier, OPERATION_ATOMIC);
    if (is_ordered) copy.mark = event_copy_begin(w, &copy.mbarrier);
    copy.from = find(w, &copy, &i->bulk.from, OPERATION_LOAD, BY_BARRIER);
    copy.to = copy.from ? find(w, &copy, to, OPERATION_STORE, BY_BARRIER) : NULL;
    if (is_ordered) event_copy_end(w);
    struct async *async = async_of(copy.mbarrier.owner);
    if (copy.to) append(&async->arriving, &async->last_arriving, &copy);
}

/* Issues a copy to global memory, which completes in a group of its thread. */
static void issue_to_global(struct warp *w, const struct insn *i, struct bulk_copy copy)
{
    bool is_ordered = announces(w->block, ANNOUNCE_ORDER);
    enum operation writes = i->bulk.reduces ? OPERATION_ATOMIC : OPERATION_STORE;
    if (is_ordered) copy.mark = event_copy_begin(w, NULL);
    copy.from = find(w, &copy, &i->bulk.from, OPERATION_LOAD, BY_BULK);
    copy.to = copy.from ? find(w, &copy, &i->bulk.to, writes, BY_BULK) : NULL;
    if (is_ordered) event_copy_end(w);
    copy.group = w->block->async->bulk_groups[w->index][copy.lane];
    struct async *async = w->block->async;
    if (copy.to) append(&async->grouped, &async->last_grouped, &copy);
}

/* Issues a copy to the same offset in each block whose bit is set. */
static void issue_multicast(struct warp *w, const struct insn *i, struct bulk_copy copy)
{
    uint32_t blocks = ((const uint32_t *)slot_at(w, i->bulk.blocks))[copy.lane] & 0xffff;
    for (; blocks; blocks &= blocks - 1) {
        uint64_t rank = shared_window((unsigned)__builtin_ctz(blocks));
        struct address places[3] = {i->bulk.to, {0}, i->bulk.mbarrier};
        for (int k = 0; k < 3; k += 2) {
            uint64_t offset = shared_offset(address_of(w, &places[k], copy.lane));
            places[k].space = PTX_SHARED_CLUSTER;
            places[k].offset +=
                (int64_t)(rank + offset) - (int64_t)address_of(w, &places[k], copy.lane);
        }
        issue_to_shared(w, i, copy, &places[0], &places[2]);
    }
}

void charge_bytes(struct warp *w, uint64_t bytes)
{
    uint64_t rest = 1 + bytes / BULK_UNIT;
    if (!w->block->launch->emu->instruction_limit) return;
    w->block->executed += rest;
    uint64_t taken = rest < w->fuel ? rest : w->fuel;
    w->fuel -= taken;
    w->clock -= taken; /* its %clock stays as it is */
    rest -= taken;
    w->slice -= rest < w->slice ? rest : w->slice;
}

/* The size of a copy. False after a fault. */
static bool take_size(struct bulk_copy *copy, struct tensor_box *box)
{
    const struct insn *i = copy->insn;
    if (i->bulk.rank) {
        copy->box = box;
        bool is_read = tensor_box_read(copy->warp, i, copy->lane, box);
        copy->bytes = is_read ? box->bytes : 0;
        return is_read;
    }
    copy->bytes = ((const uint32_t *)slot_at(copy->warp, i->bulk.bytes))[copy->lane];
    if (copy->bytes % BULK_UNIT == 0) return true;
    fault(copy->warp, i, copy->lane, EMU_ILLEGAL_INSTRUCTION,
          "a bulk copy of %u bytes, which is not a multiple of %d", (unsigned)copy->bytes,
          BULK_UNIT);
    return false;
}

static void issue(struct warp *w, const struct insn *i, int lane)
{
    struct tensor_box box;
    struct bulk_copy copy = {.warp = w, .insn = i, .lane = lane};
    async_of(w->block);
    if (!take_size(&copy, &box)) return;
    uint64_t counted = copy.bytes;
    if (copy.box && i->bulk.reduces) counted /= ptx_type_size(box.map.type);
    if (w->counts) event_bulk_issued(w, i, counted);
    charge_bytes(w, copy.bytes);
    if (i->bulk.to.space == PTX_GLOBAL)
        issue_to_global(w, i, copy);
    else if (i->bulk.blocks != NO_SLOT)
        issue_multicast(w, i, copy);
    else
        issue_to_shared(w, i, copy, &i->bulk.to, &i->bulk.mbarrier);
}

void op_bulk(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask && !w->block->launch->error; mask &= mask - 1) issue(w, i, __builtin_ctz(mask));
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static void carry_out(struct bulk_copy *copy)
{
    uint8_t *from = copy->taken ? copy->taken : copy->from;
    const struct insn *i = copy->insn;
    bool changes = !copy->box && !i->bulk.reduces && memcmp(copy->to, from, copy->bytes);
    if (copy->box)
        changes = i->bulk.to.space == PTX_GLOBAL ? tensor_carry_out(i, copy->box, from, copy->to)
                                                 : tensor_carry_out(i, copy->box, copy->to, from);
    else if (i->bulk.reduces)
        for (uint64_t at = 0; at < copy->bytes; at += i->element_bytes)
            changes |= access_combine_any(i, copy->to + at, from + at);
    else if (changes)
        memcpy(copy->to, from, copy->bytes);
    if (changes) copy->warp->block->changed = true;
}

/* Takes a copy out of a list and frees it. `last` as in append(). */
static void drop(struct bulk_copy **at, struct bulk_copy **last)
{
    struct bulk_copy *copy = *at;
    if (*last == copy) *last = NULL;
    *at = copy->next;
    free(copy->taken);
    free(copy);
}

void bulk_arrive_at(const struct shared_place *place)
{
    struct bulk_copy **at = &place->owner->async->arriving;
    while (*at) {
        struct bulk_copy *copy = *at;
        if (copy->mbarrier.offset != place->offset) {
            at = &copy->next;
            continue;
        }
        if (copy->insn->bulk.from.space != PTX_GLOBAL && copy->warp->block->ended)
            fault(copy->warp, copy->insn, copy->lane, EMU_LAUNCH_FAILURE,
                  "its block has exited before a bulk copy from its shared memory was complete");
        else
            carry_out(copy);
        if (announces(place->owner, ANNOUNCE_ORDER))
            event_copy_arrive(copy->warp, copy->lane, BY_BARRIER, copy->mark, place);
        mbarrier_complete_bytes(copy->warp, copy->insn, copy->lane, place, copy->bytes);
        drop(at, &place->owner->async->last_arriving);
    }
}

void op_bulk_commit(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)i;
    struct async *async = async_of(w->block);
    for (int l = 0; l < WARP; l++) async->bulk_groups[w->index][l] += mask >> l & 1;
}

void op_bulk_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct async *async = async_of(w->block);
    struct bulk_copy **at = &async->grouped;
    while (*at) {
        struct bulk_copy *copy = *at;
        bool done = copy->warp == w && mask >> copy->lane & 1 &&
                    (int64_t)copy->group + i->group.pending <
                        (int64_t)async->bulk_groups[w->index][copy->lane];
        if (done && announces(w->block, ANNOUNCE_ORDER)) {
            event_copy_wait(w, i, copy->lane, BULK_READS, copy->mark.when);
            if (!i->group.read) event_copy_wait(w, i, copy->lane, BULK_COPIES, copy->mark.when);
        }
        if (done && !i->group.read) {
            carry_out(copy);
            drop(at, &async->last_grouped);
            continue;
        }
        uint64_t span = span_of(copy);
        if (done && !copy->taken)
            copy->taken = memcpy(allocated(malloc(span + !span)), copy->from, span);
        at = &copy->next;
    }
}

/* Carries out all remaining copies to global memory, waited for or not. */
void bulk_finish(struct block *block)
{
    struct bulk_copy **list = &block->async->grouped;
    while (*list) {
        carry_out(*list);
        drop(list, &block->async->last_grouped);
    }
}

/*
 * async.c — cp.async: 4, 8 or 16 bytes per lane from global to shared memory (PTX ISA, "cp.async").
 *
 * The copies of a warp wait in a queue, in order. Each lane counts the groups that it has
 * committed. A copy belongs to the group that the lane commits next.
 */
#include "events.h"
#include "async.h"
#include "mbarrier.h"
#include <stdlib.h>
#include <string.h>

enum { LARGEST_COPY = 16 }; /* bytes per lane */

/* One instruction of the warp: a copy, or an arrival at an mbarrier when the copies before it are
 * done. */
struct copy {
    const struct insn *insn;
    uint32_t mask; /* the lanes that are not done yet */
    bool is_arrival;
    uint32_t group[WARP];
    uint8_t *to[WARP];
    const uint8_t *from[WARP];
    uint8_t from_bytes[WARP]; /* the rest is filled with zeros */
    uint32_t mbarrier[WARP];  /* offset in shared memory */
    struct copy_mark mark;    /* from event_copy_begin() */
};

struct copy_queue {
    struct copy *items;
    size_t count, room;
    uint32_t committed[WARP];
};

struct copy_queue *copy_queues_new(unsigned warps)
{
    return calloc(warps, sizeof(struct copy_queue));
}

void copy_queues_clear(struct copy_queue *queues, unsigned warps)
{
    for (unsigned k = 0; k < warps; k++) queues[k].count = 0;
}

void copy_queues_free(struct copy_queue *queues, unsigned warps)
{
    for (unsigned k = 0; k < warps; k++) free(queues[k].items);
    free(queues);
}

static struct copy_queue *queue_of(struct warp *w, const struct insn *i)
{
    struct async *async = async_of(w, i);
    return async ? &async->queues[w->index] : NULL;
}

/* Adds an item to the queue; NULL after a fault. */
static struct copy *add(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { FIRST_ROOM = 8 };
    struct copy_queue *queue = queue_of(w, i);
    if (!queue) return NULL;
    if (queue->count == queue->room) {
        size_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
        struct copy *grown = realloc(queue->items, room * sizeof *grown);
        if (!grown) {
            fault(w, i, -1, EMU_OUT_OF_MEMORY, "out of host memory for asynchronous copies");
            return NULL;
        }
        queue->items = grown;
        queue->room = room;
    }
    struct copy *copy = &queue->items[queue->count++];
    memset(copy, 0, sizeof *copy);
    copy->insn = i;
    copy->mask = mask;
    memcpy(copy->group, queue->committed, sizeof copy->group);
    return copy;
}

static void carry_out(struct block *block, struct copy *copy, uint32_t lanes)
{
    lanes &= copy->mask;
    copy->mask &= ~lanes;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        unsigned bytes = copy->from_bytes[lane];
        uint8_t whole[LARGEST_COPY] = {0};
        if (bytes) memcpy(whole, copy->from[lane], bytes);
        if (!block->changed)
            block->changed = memcmp(copy->to[lane], whole, copy->insn->element_bytes);
        memcpy(copy->to[lane], whole, copy->insn->element_bytes);
    }
}

static void drop_finished(struct copy_queue *queue)
{
    size_t kept = 0;
    for (size_t k = 0; k < queue->count; k++)
        if (queue->items[k].mask) {
            if (kept != k) queue->items[kept] = queue->items[k];
            kept++;
        }
    queue->count = kept;
}

/* ---- issuing a copy -------------------------------------------------------------------------- */

/* The access of a copy's lanes to one of its operands. */
static struct access take(const struct warp *w, const struct address *place,
                          enum operation operation, uint32_t mask, unsigned bytes,
                          const struct copy *copy)
{
    struct access made, *access = &made;
    access_make(access, operation, place->space, mask, bytes);
    access->agent = BY_COPY;
    access->copy = copy->mark;
    for (int l = 0; l < WARP; l++) access->address[l] = address_of(w, place, l);
    uint64_t first = access->address[__builtin_ctz(access->mask)];
    for (int l = 0; l < WARP; l++)
        if (!(access->mask >> l & 1)) access->address[l] = first;
    return made;
}

/* Saves the addresses of an access that has passed the door. */
static void keep(const struct access *access, struct access *all)
{
    for (uint32_t lanes = access->mask; lanes; lanes &= lanes - 1)
        all->address[__builtin_ctz(lanes)] = access->address[__builtin_ctz(lanes)];
}

/* Checks the lanes that read `bytes` bytes from the same place. Returns them; 0 after a fault. Of a
 * partial element the first and the last byte are checked. */
static uint32_t find_source(struct warp *w, const struct insn *i, uint32_t lanes, unsigned bytes,
                            struct copy *copy, struct access *all)
{
    bool whole = bytes == i->element_bytes;
    struct access access = take(w, &i->copy.from, OPERATION_LOAD, lanes, whole ? bytes : 1, copy);
    struct access end = access;
    if (!access_door_any(w, i, &access)) return 0;
    for (int l = 0; l < WARP; l++) end.address[l] = access.address[l] + bytes - 1;
    end.mask = access.mask;
    if (!whole && !access_door_any(w, i, &end)) return 0;
    keep(&access, all);
    for (uint32_t left = access.mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        copy->from[l] = (const uint8_t *)(uintptr_t)(access.host + access.address[l]);
    }
    return access.mask;
}

/* Finds the sources of all lanes; false after a fault. A lane that reads only a part checks only
 * this part; a lane that reads nothing checks nothing. */
static bool find_sources(struct warp *w, const struct insn *i, struct copy *copy,
                         struct access *all)
{
    for (unsigned bytes = i->element_bytes; bytes; bytes--) {
        uint32_t left = 0, found;
        for (int l = 0; l < WARP; l++)
            left |= (uint32_t)(all->mask >> l & 1 && copy->from_bytes[l] == bytes) << l;
        for (; left; left &= ~found)
            if (!(found = find_source(w, i, left, bytes, copy, all))) return false;
    }
    return true;
}

static bool find_targets(struct warp *w, const struct insn *i, struct copy *copy,
                         struct access *all)
{
    for (uint32_t left = all->mask; left;) {
        struct access access = take(w, &i->copy.to, OPERATION_STORE, left, i->element_bytes, copy);
        if (!access_door_any(w, i, &access)) return false;
        left &= ~access.mask;
        keep(&access, all);
        for (uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
            int l = __builtin_ctz(lanes);
            copy->to[l] = (uint8_t *)(uintptr_t)(access.host + access.address[l]);
        }
    }
    return true;
}

/* How many bytes a lane reads. */
static unsigned source_bytes(const struct warp *w, const struct insn *i, int lane)
{
    if (i->copy.ignore != NO_SLOT)
        return *(const uint32_t *)slot_at(w, i->copy.ignore) >> lane & 1 ? 0 : i->element_bytes;
    if (i->copy.source_bytes == NO_SLOT) return i->element_bytes;
    uint32_t bytes = ((const uint32_t *)slot_at(w, i->copy.source_bytes))[lane];
    return bytes < i->element_bytes ? bytes : i->element_bytes;
}

void op_copy(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access from = {.bytes = i->element_bytes},
                  to = {.mask = mask, .bytes = i->element_bytes};
    struct copy *copy = add(w, i, mask);
    bool is_ordered = announces(w->block, ANNOUNCE_ORDER);
    if (!copy) return;
    for (int l = 0; l < WARP; l++) {
        copy->from_bytes[l] = (uint8_t)source_bytes(w, i, l);
        if (copy->from_bytes[l]) from.mask |= UINT32_C(1) << l;
    }
    from.mask &= mask;
    for (int l = 0; l < WARP; l++) from.address[l] = address_of(w, &i->copy.from, l);
    if (is_ordered) copy->mark = event_copy_begin(w, NULL);
    bool found = find_sources(w, i, copy, &from) && find_targets(w, i, copy, &to);
    if (is_ordered) event_copy_end(w);
    if (!found)
        copy->mask = 0;
    else if (w->counts) /* counts both sides as one instruction */
        event_copy_issued(w, i, &from, &to);
}

/* ---- groups, and arrivals at mbarriers ------------------------------------------------------- */

void op_copy_commit(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct copy_queue *queue = queue_of(w, i);
    for (int l = 0; queue && l < WARP; l++) queue->committed[l] += mask >> l & 1;
}

void op_copy_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct copy_queue *queue = queue_of(w, i);
    uint32_t over[WARP] = {0}; /* with ANNOUNCE_ORDER: the mark of the last finished copy */
    if (!queue) return;
    for (size_t k = 0; k < queue->count; k++) {
        struct copy *copy = &queue->items[k];
        uint32_t done = 0;
        for (int l = 0; l < WARP; l++)
            done |= (uint32_t)(i->group.pending == WAIT_FOR_ALL ||
                               (int64_t)copy->group[l] + i->group.pending <
                                   (int64_t)queue->committed[l])
                    << l;
        if (copy->is_arrival) continue;
        for (uint32_t left = done & mask & copy->mask; left && announces(w->block, ANNOUNCE_ORDER);
             left &= left - 1)
            over[__builtin_ctz(left)] = copy->mark.when;
        carry_out(w->block, copy, done & mask);
    }
    for (int l = 0; l < WARP && announces(w->block, ANNOUNCE_ORDER); l++)
        if (over[l]) event_copy_wait(w, l, COPIES, over[l]);
    drop_finished(queue);
}

void op_copy_arrive(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct copy *copy = add(w, i, mask);
    if (!copy) return;
    copy->is_arrival = true;
    if (announces(w->block, ANNOUNCE_ORDER)) {
        copy->mark = event_copy_begin(w, NULL); /* of the copies before */
        event_copy_end(w);
    }
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct shared_place place;
        if (!shared_find(w, i, lane, i->address.space, address_of(w, &i->address, lane),
                         sizeof(uint64_t), sizeof(uint64_t), &place) ||
            !mbarrier_check(w, i, lane, &place))
            return;
        if (announces(w->block, ANNOUNCE_ORDER))
            event_mbarrier_use(w, i, lane, &place, OPERATION_ATOMIC);
        /* Without .noinc the phase expects one more arrival. */
        if (!i->copy_arrival.noinc) mbarrier_expect_arrival(w, i, lane, &place);
        copy->mbarrier[lane] = place.offset;
    }
}

void copy_arrive_at(const struct shared_place *place)
{
    struct block *block = place->owner;
    for (unsigned n = 0; n < block->warp_count; n++) {
        struct copy_queue *queue = &block->async->queues[n];
        for (size_t k = 0; k < queue->count; k++) {
            struct copy *arrival = &queue->items[k];
            uint32_t lanes = 0;
            if (!arrival->is_arrival) continue;
            for (int l = 0; l < WARP; l++)
                lanes |= (uint32_t)(arrival->mask >> l & 1 && arrival->mbarrier[l] == place->offset)
                         << l;
            for (size_t before = 0; before < k; before++)
                if (!queue->items[before].is_arrival)
                    carry_out(block, &queue->items[before], lanes);
            arrival->mask &= ~lanes;
            for (; lanes; lanes &= lanes - 1) {
                struct warp *w = &block->warps[n];
                int lane = __builtin_ctz(lanes);
                if (announces(block, ANNOUNCE_ORDER))
                    event_copy_arrive(w, lane, BY_COPY, arrival->mark, place);
                mbarrier_arrive_at(w, arrival->insn, lane, place, 1);
            }
        }
        drop_finished(queue);
    }
}

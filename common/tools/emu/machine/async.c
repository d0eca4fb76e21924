/* async.c — asynchronous copies of lanes (cp.async) and asynchronous stores (st.async). */
#include "async.h"
#include "device.h"
#include "events.h"

/* ---- cp.async -------------------------------------------------------------------------------- */

/* Cp.async: 4, 8 or 16 bytes per lane from global to shared memory (PTX ISA, "cp.async").
 *
 * The copies of a warp wait in a queue, in order. Each lane counts the groups that it has
 * committed. A copy belongs to the group that the lane commits next. */

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

static struct copy_queue *copy_queues_new(unsigned warps)
{
    return allocated(calloc(warps, sizeof(struct copy_queue)));
}

static void copy_queues_clear(struct copy_queue *queues, unsigned warps)
{
    for (unsigned k = 0; k < warps; k++) queues[k].count = 0;
}

static void copy_queues_free(struct copy_queue *queues, unsigned warps)
{
    for (unsigned k = 0; k < warps; k++) free(queues[k].items);
    free(queues);
}

static struct copy_queue *queue_of(const struct warp *w)
{
    return &async_of(w->block)->queues[w->index];
}

/* Adds an item to the queue. */
static struct copy *add(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { FIRST_ROOM = 8 };
    struct copy_queue *queue = queue_of(w);
    if (queue->count == queue->room) {
        queue->room = queue->room ? 2 * queue->room : FIRST_ROOM;
        queue->items = allocated(realloc(queue->items, queue->room * sizeof *queue->items));
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
    (void)i;
    struct copy_queue *queue = queue_of(w);
    for (int l = 0; l < WARP; l++) queue->committed[l] += mask >> l & 1;
}

void op_copy_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct copy_queue *queue = queue_of(w);
    uint32_t over[WARP] = {0}; /* with ANNOUNCE_ORDER: the mark of the last finished copy */
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
        if (over[l]) event_copy_wait(w, i, l, COPIES, over[l]);
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

static void copy_arrive_at(const struct shared_place *place)
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

/* ---- st.async -------------------------------------------------------------------------------- */

/* St.async: each lane stores a value into the shared memory of a block of its
 * cluster, and the bytes arrive at an mbarrier there (PTX ISA, "st.async"). red.async combines the
 * value with the one that is there.
 *
 * The values are taken when the instruction is issued. They are stored when a thread waits at the
 * mbarrier, as late as possible: see async.h.
 *
 * An asynchronous store is ordered behind all that its thread did before (PTX ISA, "Asynchronous
 * Operations"), and its arrival releases. So a thread that has waited at the mbarrier is behind the
 * storing thread's earlier accesses, too. */

enum { LARGEST_STORE = 16 }; /* bytes per lane */

/* The stores of those lanes of one instruction that go to the same block. */
struct async_store {
    struct async_store *next;
    struct warp *warp;
    const struct insn *insn;
    uint32_t mask;
    unsigned bytes;               /* per lane */
    struct shared_place mbarrier; /* its owner is the block that the values go to */
    struct copy_mark mark;        /* from event_copy_begin() */
    uint32_t offset[WARP];        /* in the owner's shared memory */
    uint8_t value[WARP][LARGEST_STORE];
};

static void stores_free(struct async_stores *stores)
{
    while (stores->first) {
        struct async_store *next = stores->first->next;
        free(stores->first);
        stores->first = next;
    }
    stores->last = NULL;
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* The lanes whose mbarrier is that of the first lane; `place` becomes it. 0 after a fault. */
static uint32_t lanes_with_mbarrier(struct warp *w, const struct insn *i, uint32_t mask,
                                    struct shared_place *place)
{
    const struct address *mbarrier = &i->store_async.mbarrier;
    int first = __builtin_ctz(mask);
    uint64_t address = address_of(w, mbarrier, first);
    if (!shared_find(w, i, first, mbarrier->space, address, sizeof(uint64_t), sizeof(uint64_t),
                     place) ||
        !mbarrier_check(w, i, first, place))
        return 0;
    uint32_t same = 0;
    for (; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask);
        same |= (uint32_t)(address_of(w, mbarrier, l) == address) << l;
    }
    return same;
}

static void take_addresses(const struct warp *w, const struct insn *i, struct access *access)
{
    int first = __builtin_ctz(access->mask);
    for (int l = 0; l < WARP; l++)
        access->address[l] = address_of(w, &i->address, access->mask >> l & 1 ? l : first);
}

static void take_values(const struct warp *w, const struct insn *i, struct async_store *store)
{
    for (uint32_t left = store->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        for (unsigned k = 0; k < i->elements; k++) {
            const char *lanes = slot_at(w, i->store_async.value[k]);
            memcpy(store->value[l] + k * i->element_bytes, lanes + l * i->lane_bytes,
                   i->element_bytes);
        }
    }
}

static void append(struct async_stores *stores, struct async_store *store)
{
    if (stores->last)
        stores->last->next = store;
    else
        stores->first = store;
    stores->last = store;
}

static void queue(struct warp *w, const struct insn *i, const struct access *access,
                  const struct shared_place *mbarrier)
{
    struct async_store *store = allocated(malloc(sizeof *store));
    *store = (struct async_store){.warp = w,
                                  .insn = i,
                                  .mask = access->mask,
                                  .bytes = access->bytes,
                                  .mbarrier = *mbarrier,
                                  .mark = access->copy};
    for (int l = 0; l < WARP; l++) store->offset[l] = (uint32_t)access->address[l];
    take_values(w, i, store);
    append(&async_of(mbarrier->owner)->stores, store);
}

/* Issues the stores that go to the same block as that of the first lane. Returns their lanes, or 0
 * after a fault. */
static uint32_t issue(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct shared_place mbarrier;
    uint32_t lanes = lanes_with_mbarrier(w, i, mask, &mbarrier);
    if (!lanes) return 0;
    struct access access;
    access_make(&access, i->store_async.reduces ? OPERATION_ATOMIC : OPERATION_STORE,
                i->address.space, lanes, (unsigned)i->element_bytes * i->elements);
    access.agent = BY_BARRIER;
    take_addresses(w, i, &access);
    bool is_ordered = announces(w->block, ANNOUNCE_ORDER);
    if (is_ordered) {
        for (uint32_t left = lanes; left; left &= left - 1)
            event_mbarrier_use(w, i, __builtin_ctz(left), &mbarrier, OPERATION_ATOMIC);
        access.copy = event_copy_begin(w, &mbarrier);
    }
    uint32_t done = access_door_any(w, i, &access);
    if (is_ordered) event_copy_end(w);
    if (!done) return 0;
    if (access.space != PTX_SHARED && access.space != PTX_SHARED_CLUSTER) {
        fault(w, i, __builtin_ctz(done), EMU_INVALID_ADDRESS_SPACE,
              "it stores to shared memory only");
        return 0;
    }
    if (access.owner != mbarrier.owner) {
        fault(w, i, __builtin_ctz(done), EMU_ILLEGAL_ADDRESS,
              "it stores into the block of rank %u, and its mbarrier is in that of rank %u: both "
              "have to be in one block",
              access.owner->rank, mbarrier.owner->rank);
        return 0;
    }
    queue(w, i, &access, &mbarrier);
    if (is_ordered) event_mbarrier_arrive(w, i, done, &mbarrier, true);
    return done;
}

void op_store_async(struct warp *w, const struct insn *i, uint32_t mask)
{
    while (mask && !w->block->launch->error) {
        uint32_t done = issue(w, i, mask);
        if (!done) return;
        mask &= ~done;
    }
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static void carry_out_store(const struct async_store *store)
{
    for (uint32_t left = store->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        unsigned char *to = store->mbarrier.owner->shared + store->offset[l];
        if (store->insn->store_async.reduces) {
            if (access_combine_any(store->insn, to, store->value[l]))
                store->mbarrier.owner->changed = true;
            continue;
        }
        if (!memcmp(to, store->value[l], store->bytes)) continue;
        memcpy(to, store->value[l], store->bytes);
        store->mbarrier.owner->changed = true;
    }
}

static void stores_arrive_at(const struct shared_place *place)
{
    struct async_stores *stores = &place->owner->async->stores, left = {NULL, NULL};
    struct async_store *store = stores->first;
    *stores = left;
    for (struct async_store *next; store; store = next) {
        next = store->next;
        store->next = NULL;
        if (store->mbarrier.offset != place->offset) {
            append(&left, store);
            continue;
        }
        int lane = __builtin_ctz(store->mask);
        carry_out_store(store);
        if (announces(place->owner, ANNOUNCE_ORDER))
            event_copy_arrive(store->warp, lane, BY_BARRIER, store->mark, place);
        mbarrier_complete_bytes(store->warp, store->insn, lane, place,
                                (uint64_t)__builtin_popcount(store->mask) * store->bytes);
        free(store);
    }
    *stores = left;
}

/* ---- asynchronous copies and stores of a warp ------------------------------------------------ */

struct async *async_of(struct block *block)
{
    if (block->async) return block->async;
    struct async *async = allocated(calloc(1, sizeof *async));
    async->queues = copy_queues_new(block->warp_count);
    async->bulk_groups = allocated(calloc(block->warp_count, sizeof *async->bulk_groups));
    return block->async = async;
}

void async_start(struct block *block)
{
    struct async *async = block->async;
    copy_queues_clear(async->queues, block->warp_count);
    bulk_copies_free(&async->arriving);
    bulk_copies_free(&async->grouped);
    async->last_arriving = async->last_grouped = NULL;
    stores_free(&async->stores);
    memset(async->bulk_groups, 0, block->warp_count * sizeof *async->bulk_groups);
}

void async_free(struct block *block)
{
    struct async *async = block->async;
    if (!async) return;
    copy_queues_free(async->queues, block->warp_count);
    bulk_copies_free(&async->arriving);
    bulk_copies_free(&async->grouped);
    stores_free(&async->stores);
    free(async->bulk_groups);
    free(async);
}

void async_carry_out(const struct shared_place *mbarrier)
{
    if (!mbarrier->owner->async) return;
    copy_arrive_at(mbarrier);
    bulk_arrive_at(mbarrier);
    stores_arrive_at(mbarrier);
}

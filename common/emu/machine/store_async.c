/*
 * store_async.c — st.async: each lane stores a value into the shared memory of a block of its
 * cluster, and the bytes arrive at an mbarrier there (PTX ISA, "st.async"). red.async combines the
 * value with the one that is there.
 *
 * The values are taken when the instruction is issued. They are stored when a thread waits at the
 * mbarrier, as late as possible: see async.h.
 *
 * An asynchronous store is ordered behind all that its thread did before (PTX ISA, "Asynchronous
 * Operations"), and its arrival releases. So a thread that has waited at the mbarrier is behind the
 * storing thread's earlier accesses, too.
 */
#include "access.h"
#include "async.h"
#include "device.h"
#include "events.h"
#include "mbarrier.h"
#include <stdlib.h>
#include <string.h>

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

void stores_free(struct async_stores *stores)
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
    struct async *async = async_of(&mbarrier->owner->warps[0], i);
    struct async_store *store = async ? malloc(sizeof *store) : NULL;
    if (async && !store)
        fault(w, i, -1, EMU_OUT_OF_MEMORY, "out of host memory for asynchronous stores");
    if (!store) return;
    *store = (struct async_store){.warp = w,
                                  .insn = i,
                                  .mask = access->mask,
                                  .bytes = access->bytes,
                                  .mbarrier = *mbarrier,
                                  .mark = access->copy};
    for (int l = 0; l < WARP; l++) store->offset[l] = (uint32_t)access->address[l];
    take_values(w, i, store);
    append(&async->stores, store);
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
    if (is_ordered) event_mbarrier_arrive(w, done, &mbarrier, true);
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

void stores_arrive_at(const struct shared_place *place)
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

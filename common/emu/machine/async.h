/*
 * async.h — asynchronous copies, cp.async (async.c) and cp.async.bulk (bulk.c), and asynchronous
 * stores, st.async (store_async.c).
 *
 * A GPU carries out a copy at some time between the instruction and the wait for it. The emulator
 * carries it out as late as possible: when a thread has waited for it (cp.async.wait_group, an
 * mbarrier, cp.async.bulk.wait_group), or when the block ends, if other blocks can see the result.
 * So a program that forgets to wait always reads the old bytes, and a source that is changed too
 * early is copied with the change. Addresses are checked, counted and announced when the copy is
 * issued.
 *
 * Each block has its own queues. Only the host thread of its cluster uses them.
 */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include "common/emu/ptx/warp_ops.h"
#include "shared.h"

struct copy_queue;
struct bulk_copy;
struct async_store;

/* Stores in the order in which they were issued. */
struct async_stores {
    struct async_store *first, *last;
};

struct async {
    struct copy_queue *queues;            /* cp.async copies, by warp */
    struct bulk_copy *arriving, *grouped; /* bulk copies that complete at an mbarrier of this block;
                                              those that its threads wait for by groups */
    struct bulk_copy *last_arriving, *last_grouped; /* NULL: not known */
    struct async_stores stores;           /* st.async into this block */
    uint32_t (*bulk_groups)[WARP];        /* by warp and lane: the number of committed groups */
};

/* The queues of the warp's block, made at the first call; NULL after a fault. */
struct async *async_of(struct warp *, const struct insn *);
/* A block starts; has ended (copies that other blocks can see are carried out); its memory is
 * freed. */
void async_start(struct block *);
void async_end(struct block *);
void async_free(struct block *);
/* Carries out all copies and stores that arrive at an mbarrier, and arrives for them. */
void async_carry_out(const struct shared_place *mbarrier);

/* ---- cp.async (async.c) */

struct copy_queue *copy_queues_new(unsigned warps);
void copy_queues_clear(struct copy_queue *, unsigned warps);
void copy_queues_free(struct copy_queue *, unsigned warps);
void copy_arrive_at(const struct shared_place *mbarrier);

/* ---- cp.async.bulk (bulk.c) */

void bulk_arrive_at(const struct shared_place *mbarrier);
void bulk_finish(struct block *);
void bulk_copies_free(struct bulk_copy **list);

/* ---- st.async (store_async.c) */

void stores_arrive_at(const struct shared_place *mbarrier);
void stores_free(struct async_stores *);

#endif

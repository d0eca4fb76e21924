/*
 * async.h — asynchronous copies: cp.async (copy.c) and cp.async.bulk (bulk.c).
 *
 * A GPU carries them out at some time between the instruction and the wait for it. Here they are
 * carried out as late as they may be: when somebody has waited for them (cp.async.wait_group, an
 * mbarrier, cp.async.bulk.wait_group), and what nobody has waited for when the block ends, if then
 * it still matters. So a program that forgets to wait reads the old bytes, always, and one that
 * changes the source too early sees it. Addresses are checked, counted and shown to the checkers
 * when the copy is issued.
 *
 * Each block has its own queues; only its cluster's host thread comes there.
 */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include "common/emu/decode/warp_ops.h"
#include "shared.h"

struct copy_queue;
struct bulk_copy;

struct async {
    struct copy_queue *queues;            /* cp.async, by warp */
    struct bulk_copy *arriving, *grouped; /* bulk copies that complete at an mbarrier of this block;
                                              those that its threads wait for by groups */
    uint32_t (*bulk_groups)[WARP];        /* by warp and lane: how many it has committed */
};

/* A block's, made when first asked for; NULL after a fault. */
struct async *async_of(struct warp *, const struct insn *);
/* A block starts, has ended (what others can still see is carried out), and its memory is freed. */
void async_start(struct block *);
void async_end(struct block *);
void async_free(struct block *);
/* Carries out every copy that will arrive at an mbarrier, and arrives. */
void async_carry_out(const struct shared_place *mbarrier);

/* ---- cp.async (copy.c) */

struct copy_queue *copy_queues_new(unsigned warps);
void copy_queues_clear(struct copy_queue *, unsigned warps);
void copy_queues_free(struct copy_queue *, unsigned warps);
void copy_arrive_at(const struct shared_place *mbarrier);

/* ---- cp.async.bulk (bulk.c) */

void bulk_arrive_at(const struct shared_place *mbarrier);
void bulk_finish(struct block *);
void bulk_free(struct bulk_copy **list);

#endif

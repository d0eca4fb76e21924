/*
 * race.h — racecheck: hazards between threads that nothing puts in order.
 *
 * Two accesses of one byte by different threads, at least one of them a write, are a hazard unless
 * synchronisation orders them: not whether this run happened to do one after the other, but
 * whether every run must. So lanes of a warp are threads like any others, though they run in step
 * here, and a missing __syncwarp() is found as a missing __syncthreads() is.
 *
 * What orders: barriers of a block, of some of its warps, of a warp's lanes, of a cluster; mbarriers;
 * a fence and then a strong store or an atomic, once a strong load or an atomic has seen it; release
 * and acquire; the end of a kernel. Of one word, an atomic is in order behind those that it has seen.
 * What does not: shuffles, votes and other exchanges of values; volatile and relaxed accesses. An
 * asynchronous copy is nobody's: it is over for those only who have waited for it.
 *
 *   knowledge.c    what a thread can know of others     shadow.c       who touched a granule last
 *   race_clock.c   what a lane knows, and has fenced    race.c         is an access a hazard?
 *   race_meet.c    barriers: all know of each other     race_report.c  its sentences
 *   race_sync.c    words that hand knowledge on         race_life.c    a device's, a block's part
 *   race_async.c   asynchronous copies, mbarriers
 *   race_pair.c    two accesses of one byte        race_exit.c    blocks that exit too early
 *   race_update.c  a load and a store, no atomic   race_earlier.c would an earlier value have done?
 *   race_uses.c    what the code does with a value
 *
 * These functions are called by the machine where something happens; all but the first group only
 * if block->race is there. While racecheck is on, one host thread runs all blocks.
 */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "common/emu/machine/machine.h"

/* A device's; NULL: out of memory. */
struct race *race_open(void);
void race_close(struct race *);
/* Memory is freed: whoever gets it next has nothing to do with whom it belonged to. */
void race_forget(struct race *, uint64_t address, uint64_t bytes);
/* A grid begins and ends. */
void race_begin(struct launch *);
void race_end(struct launch *);
/* A block's part, for one block after another. NULL: out of memory. */
struct race_block *race_block_new(const struct block *);
void race_block_start(struct block *);
void race_block_free(struct race_block *);

/* An access ("ld", "st", "atom") of the lanes in `mask`, `bytes` each. Before it is carried
 * out: host + address is where the bytes still are as they were. `owner`: of shared memory. */
void race_access(struct warp *, const struct insn *, uint32_t mask, const uint64_t *address,
                 unsigned bytes, const char *operation, enum ptx_space, uint64_t host,
                 const struct block *owner);

/* What fences are for: how far releases and atomics reach, the block or everybody; and that bulk
 * copies see what threads have stored (fence.proxy.async). HEARD is none: of what a thread has heard
 * by volatile and relaxed accesses, fenced or not. */
enum fence { SCOPE_BLOCK, SCOPE_DEVICE, FOR_COPIES, HEARD, FENCES };
void race_fence(struct warp *, uint32_t lanes, enum fence);
/* These lanes have met at a bar.warp.sync. */
void race_warp_sync(struct warp *, uint32_t lanes);
/* … or at a match.sync, which orders no memory. But cuda::pipeline counts a warp's threads by one, so
 * that the last warp can invalidate its mbarriers: then it is taken for a bar.warp.sync. */
void race_match(struct warp *, uint32_t lanes);
/* bar.arrive, and bar.sync when the last has come and those that wait have not gone on yet. */
void race_barrier_arrive(struct warp *, uint32_t lanes, unsigned number);
void race_barrier_release(struct block *, unsigned number);
/* The barrier of a cluster, known by a word that is no address: what the lanes have done until now
 * (if it `releases`; otherwise what they had fenced) is known to lanes that come for it later. */
void race_signal(struct warp *, uint32_t lanes, uint64_t word, bool releases);
void race_await(struct warp *, uint32_t lanes, uint64_t word);

/* ---- a cluster (race_exit.c) */

/* A block has ended: do its threads know that others' uses of its shared memory are over? */
void race_exit(struct block *);
/* A lane uses shared memory, at an offset, of a block that has ended. */
void race_use_after_exit(struct warp *, const struct insn *, int lane, const struct block *owner,
                         uint64_t offset);

/* ---- mbarriers (race_async.c) */

struct shared_place; /* shared.h */
/* A lane makes or unmakes one ("st"), has waited for it ("ld") or does something else with it
 * ("atom"). */
void race_mbarrier_use(struct warp *, const struct insn *, int lane, const struct shared_place *,
                       const char *operation);
void race_mbarrier_init(const struct shared_place *);
/* Lanes arrive: what they have done until now, or had fenced if the arrival releases nothing, … */
void race_mbarrier_arrive(struct warp *, uint32_t lanes, const struct shared_place *,
                          bool releases);
/* … is known when the phase is over … */
void race_mbarrier_over(const struct shared_place *);
/* … to lanes that have waited for it, by its parity or by what an arrival returned. */
void race_mbarrier_await(struct warp *, uint32_t lanes, const struct shared_place *,
                         bool by_parity);

/* ---- asynchronous copies (race_async.c) */

/* Whose an access is. */
enum maker {
    BY_THREAD,
    BY_COPY,    /* that of a cp.async of the thread */
    BY_BULK,    /* of a cp.async.bulk of the thread, which it waits for by groups */
    BY_BARRIER, /* of a cp.async.bulk that arrives at the mbarrier of that number */
};
/* A copy, among those that are over in the order in which they were begun. */
struct race_copy {
    uint32_t when;   /* it began */
    uint16_t number; /* of its mbarrier */
};
/* The accesses that are shown between these two are those of copies. */
void race_copy_begin(struct warp *, enum maker, const struct shared_place *mbarrier);
struct race_copy race_copy_end(struct warp *);
/* A lane has waited until its copies up to one are over, or have been read. */
enum copies { COPIES, BULK_READS, BULK_COPIES };
void race_copy_await(struct warp *, int lane, enum copies, uint32_t until);
/* A copy arrives at an mbarrier: one that BY_BARRIER is known by, or a lane's up to `when`. */
void race_copy_arrive(struct warp *, int lane, enum maker, struct race_copy,
                      const struct shared_place *);

#endif

/*
 * race.h — racecheck: hazards between threads that nothing puts in order.
 *
 * Two accesses of one byte by different threads, at least one of them a write, are a hazard unless
 * synchronisation orders them: not whether this run happened to do one after the other, but
 * whether every run must. So lanes of a warp are threads like any others, though they run in step
 * here, and a missing __syncwarp() is found as a missing __syncthreads() is.
 *
 * What orders: barriers of a block, of some of its warps, of a warp's lanes; a fence and then a
 * strong store or an atomic, once a strong load or an atomic has seen it; release and acquire; the
 * end of a kernel. What does not: shuffles, votes and other exchanges of values.
 *
 *   knowledge.c    what a thread can know of others     shadow.c       who touched a granule last
 *   race_clock.c   what a lane knows, and has fenced    race.c         is an access a hazard?
 *   race_meet.c    barriers: all know of each other     race_report.c  its sentences
 *   race_sync.c    words that hand knowledge on         race_life.c    a device's, a block's part
 *
 * These functions are called by the machine where something happens; all but the first group only
 * if block->race is there. While racecheck is on, one host thread runs all blocks.
 */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "machine.h"

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
 * out: host + address is where the bytes still are as they were. */
void race_access(struct warp *, const struct insn *, uint32_t mask, const uint64_t *address,
                 unsigned bytes, const char *operation, enum ptx_space, uint64_t host);

/* How far fences, releases and atomics reach: the block, or everybody. */
enum scope { SCOPE_BLOCK, SCOPE_DEVICE, SCOPES };
void race_fence(struct warp *, uint32_t lanes, enum scope);
/* These lanes have met at a bar.warp.sync. */
void race_warp_sync(struct warp *, uint32_t lanes);
/* bar.arrive, and bar.sync when the last has come and those that wait have not gone on yet. */
void race_barrier_arrive(struct warp *, uint32_t lanes, unsigned number);
void race_barrier_release(struct block *, unsigned number);
/* Other things that hand knowledge on, such as mbarriers, known by a word of memory: what the lanes
 * have done until now is known to lanes that come for it there later. */
void race_signal(struct warp *, uint32_t lanes, enum ptx_space, const uint64_t *address);
void race_await(struct warp *, uint32_t lanes, enum ptx_space, const uint64_t *address);

#endif

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
 * What orders accesses is announced to these files by machine/events.h, with ANNOUNCE_ORDER, which
 * racecheck alone asks for. While it is on, one host thread runs all blocks.
 */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "common/emu/machine/events.h"

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

/* An access, before it is carried out: its bytes still are as they were. */
void race_access(struct warp *, const struct insn *, const struct access *);

/* A fence of some lanes, as event_fence(). */
void race_fence(struct warp *, uint32_t lanes, enum fence);

#endif

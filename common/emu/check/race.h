/*
 * race.h — racecheck: hazards between threads that nothing puts in order.
 *
 * Two accesses of one byte by different threads, at least one of them a write, are a hazard unless
 * synchronisation orders them: not whether this run happened to do one after the other, but whether
 * every run must. So lanes of a warp are threads like any others, though they run in step here, and
 * a missing __syncwarp() is found as a missing __syncthreads() is.
 *
 * What orders: barriers of a block, of some of its warps, of a warp's lanes, of a cluster;
 * mbarriers; a fence and then a strong store or an atomic, once a strong load or an atomic has seen
 * it; release and acquire; the end of a kernel. Of one word, an atomic is in order behind those
 * that it has seen. What does not: shuffles, votes and other exchanges of values; volatile and
 * relaxed accesses. An asynchronous copy is nobody's: it is over for those only who have waited for
 * it.
 *
 *   vclock.c        vector clocks
 *   shadow.c        the last accesses of each 4 bytes
 *   race.c          splits a warp's access into accesses of one lane
 *   race_pair.c     compares an access with the earlier ones
 *   race_clock.c    the clocks of a lane: what is before it, and what it releases
 *   race_barrier.c  barriers join clocks
 *   race_sync.c     words of memory that carry a clock from a release to an acquire
 *   race_async.c    asynchronous copies, mbarriers
 *   race_exit.c     blocks that exit too early
 *   race_update.c   a load and a store that are not atomic together
 *   race_earlier.c  would an earlier value have taken the same branch?
 *   race_uses.c     what the code does with a value
 *   race_report.c   the findings as text
 *   race_life.c     a device's, a launch's and a block's state
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

/*
 * race_race.h — racecheck: a happens-before race detector with vector clocks.
 *
 * Two accesses of one byte by different threads, at least one of them a write, are a hazard unless
 * synchronisation orders them. Their order in this run does not matter: the question is whether
 * every run must have it. Lanes of a warp are threads like any others, although they run in step
 * here. So a missing __syncwarp() is found like a missing __syncthreads().
 *
 * These order accesses: barriers of a block, of some of its warps, of a warp's lanes and of a
 * cluster; mbarriers; a fence followed by a strong store or an atomic, once a strong load or an
 * atomic has observed it; release and acquire; and the end of a kernel. An atomic is ordered after
 * those atomics of the same word that it has observed. These do not: shuffles, votes and other
 * exchanges of values; volatile and relaxed accesses. The end of a kernel comes before operations
 * that streams, events, graphs or the host order after it (stream_ops.h). An asynchronous copy is
 * over only for threads that have waited for it.
 *
 *   shadow.c        vector clocks
 *   shadow.h        an access in 64 bits
 *   short_record.c  most of them in 32 bits
 *   shadow_shadow.c        the last accesses of each 4 bytes
 *   race_race.c                 splits a warp's access into accesses of one lane
 *   matrix.c               rows of matrices as accesses of their lanes
 *   plain.c                plain loads and stores of a warp, in few steps
 *   race.c                 compares an access with the earlier ones
 *   race_clock.c                the clocks of a lane: what is before it, and what it releases
 *   barrier.c              barriers join clocks
 *   race_flags.c                 words of memory that carry a clock from a release to an acquire
 *   async.c                asynchronous copies, mbarriers
 *   exit.c                 blocks that exit too early
 *   update.c               a load and a store that are not atomic together
 *   condition.c            conditions of graphs, set by several threads
 *   earlier.c              would an earlier value have taken the same branch?
 *   value_first.c          was a value loaded before its flag?
 *   code_uses.c            what the code does with a value
 *   value_bits.c      in which bits of a register a value may be
 *   race_report.c               hazards as text
 *   race_stream_order.c           the order of launches and copies, by streams, events and graphs
 *   race_streams.c                  compares the accesses of those that nothing orders
 *   ops_report.c           hazards between them as text
 *   race_children.c             a grid, and what it launches
 *   race_state.c                 the state of a device, a launch and a block
 *
 * The machine announces to these files what orders accesses (machine/events.h, ANNOUNCE_ORDER).
 * Only racecheck asks for these events. While it is on, one host thread runs all blocks.
 */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "common/emu/machine/events.h"

/* racecheck's state of a device; NULL: out of memory. */
struct race *race_open(void);
void race_close(struct race *);
/* Memory is freed: earlier accesses do not conflict with those of its next owner. */
void race_forget(struct race *, uint64_t address, uint64_t bytes);
/* A grid begins and ends. */
void race_begin(struct launch *);
void race_end(struct launch *);
/* The state of a block, which serves one block after another. NULL: out of memory. */
struct race_block *race_block_new(const struct block *);
void race_block_start(struct block *);
void race_block_free(struct race_block *);

/* An access, before it is carried out: memory still has its old bytes. */
void race_access(struct warp *, const struct insn *, const struct access *);

/* A fence of some lanes, like event_fence(). */
void race_fence(struct warp *, uint32_t lanes, enum fence);

#endif

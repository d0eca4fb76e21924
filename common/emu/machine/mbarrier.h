/*
 * mbarrier.h — mbarriers: barriers in shared memory that count arrivals and bytes (PTX ISA,
 * "mbarrier").
 *
 * An mbarrier has 64 bits, whose layout is hidden from programs. It counts the arrivals that its
 * phase still lacks, and the bytes that asynchronous copies still have to deliver (tx-count). When
 * both are zero, the phase is complete, and the next one begins with the same number of expected
 * arrivals. A waiting thread asks whether the phase of its own arrival is over, or the phase with a
 * parity.
 *
 * Only blocks of one cluster can access an mbarrier. One host thread runs them, so no lock is
 * needed.
 */
#ifndef EMU_MBARRIER_H
#define EMU_MBARRIER_H

#include "common/emu/ptx/warp_ops.h"
#include "shared.h"

/* For mbarrier.try_wait: the lanes whose phase is over; and writes the result for all lanes. */
uint32_t mbarrier_wait_over(struct warp *, const struct insn *, uint32_t lanes);
void mbarrier_wait_result(struct warp *, const struct insn *, uint32_t lanes, uint32_t over);

/* Operations of asynchronous copies on an mbarrier, in the name of a lane. */
void mbarrier_arrive_at(struct warp *, const struct insn *, int lane, const struct shared_place *,
                        unsigned arrivals);
void mbarrier_expect_arrival(struct warp *, const struct insn *, int lane,
                             const struct shared_place *);
void mbarrier_complete_bytes(struct warp *, const struct insn *, int lane,
                             const struct shared_place *, uint64_t bytes);
/* Is there a valid mbarrier? False after a fault. */
bool mbarrier_check(struct warp *, const struct insn *, int lane, const struct shared_place *);

/* Notes which mbarrier a cluster waits for; and ends the launch with a message about it. */
void mbarrier_remember(struct warp *, const struct insn *, int lane);
void mbarrier_report(struct cluster *, int error, const char *what);

#endif

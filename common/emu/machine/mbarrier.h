/*
 * mbarrier.h — barriers in shared memory that count arrivals, and bytes (PTX ISA, "mbarrier").
 *
 * An mbarrier is 64 bits that programs may not look into. It counts the arrivals that its phase
 * still lacks, and the bytes that asynchronous copies still have to bring (tx-count). When both are
 * zero the phase is complete: the next one begins, with the number of arrivals that the mbarrier
 * was made with. Who waits asks whether the phase of its own arrival is over, or that of a parity.
 *
 * Only blocks of one cluster reach an mbarrier, so one host thread does: there is nothing to lock.
 */
#ifndef EMU_MBARRIER_H
#define EMU_MBARRIER_H

#include "common/emu/decode/warp_ops.h"
#include "shared.h"

/* Of mbarrier.try_wait: the lanes whose phase is over; and the answer to all of them. */
uint32_t mbarrier_wait_over(struct warp *, const struct insn *, uint32_t lanes);
void mbarrier_wait_result(struct warp *, const struct insn *, uint32_t lanes, uint32_t over);

/* What asynchronous copies do with the mbarrier of a place, in the name of a lane. */
void mbarrier_arrive_at(struct warp *, const struct insn *, int lane, const struct shared_place *,
                        unsigned arrivals);
void mbarrier_expect_arrival(struct warp *, const struct insn *, int lane,
                             const struct shared_place *);
void mbarrier_complete_bytes(struct warp *, const struct insn *, int lane,
                             const struct shared_place *, uint64_t bytes);
/* Is the place an mbarrier? False after a fault. */
bool mbarrier_check(struct warp *, const struct insn *, int lane, const struct shared_place *);

/* Keeps in mind which mbarrier a cluster waits for; and ends the launch with a sentence on it. */
void mbarrier_remember(struct warp *, const struct insn *, int lane);
void mbarrier_report(struct cluster *, int error, const char *what);

#endif

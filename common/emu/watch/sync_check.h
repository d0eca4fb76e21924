/*
 * sync_check.h — synccheck: barriers and warp-wide operations that are used wrongly.
 *
 * The machine announces the arguments (machine/events.h); fault_finding.c passes on faults. What
 * PTX forbids is an error, even if today's GPUs do what was meant. What only leaves a value
 * undefined is a warning, and so is what PTX defines and the CUDA guide forbids.
 */
#ifndef EMU_SYNC_CHECK_H
#define EMU_SYNC_CHECK_H

#include "common/emu/machine/machine.h"

enum sync_kind {
    SYNC_DIVERGENT_IN_WARP,
    SYNC_DIVERGENT_IN_BLOCK,
    SYNC_INVALID_ARGUMENTS,
    SYNC_ENDLESS,
    SYNC_EXITED_MEMBERS,
    SYNC_UNDEFINED_SHUFFLE,
    SYNC_EXITED_WARPS,
};

/* The events of machine/events.h with the same names; of a barrier that threads have exited before,
 * the two kinds of it. */
void sync_barrier_arguments(struct warp *, const struct fragment *, const struct insn *,
                            unsigned number, unsigned threads);
void sync_barrier_exited(struct warp *, const struct insn *, unsigned waiting, unsigned exited);
void sync_barrier_parted(struct warp *, const struct insn *, unsigned waiting, unsigned exited);
void sync_member_masks(struct warp *, const struct insn *, uint32_t lanes);
void sync_shuffle_outside(struct warp *, int lane, int from);

/* Reports a lane that can never go on, whichever checkers are on. `why`: one line; `picture`: of
 * machine/deadlock.h, or "". */
void sync_report_stuck(struct warp *, const struct insn *, int lane, enum sync_kind,
                       const char *why, const char *picture);

#endif

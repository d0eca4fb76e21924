/*
 * sync_check.h — synccheck: barriers and warp-wide operations that are used wrongly.
 *
 * Called only while synccheck is on, but for the last two functions. What PTX or the CUDA guide
 * forbids is an error, even where today's GPUs happen to do what was meant; what merely leaves a
 * value undefined is a warning.
 */
#ifndef EMU_SYNC_CHECK_H
#define EMU_SYNC_CHECK_H

#include "common/emu/machine/machine.h"

/* compute-sanitizer's names for kinds of findings. */
#define SYNC_DIVERGENT_IN_WARP  "Barrier error detected. Divergent thread(s) in warp."
#define SYNC_DIVERGENT_IN_BLOCK "Barrier error detected. Divergent thread(s) in block."
#define SYNC_INVALID_ARGUMENTS  "Barrier error detected. Invalid arguments."
/* And ours. */
#define SYNC_ENDLESS "Endless wait or loop detected."

static inline bool sync_is_checked(const struct warp *w)
{
    return w->block->launch->checks & EMU_CHECK_SYNC;
}

/* A fragment comes to a barrier, for `threads` threads if not 0. */
void sync_check_barrier(struct warp *, const struct fragment *, const struct insn *,
                        unsigned number, unsigned threads);
/* Lanes come to a warp-wide operation: their member masks. */
void sync_check_members(struct warp *, const struct insn *, uint32_t lanes);
/* A lane takes a value from one that does not take part in the shuffle. */
void sync_check_shuffle(struct warp *, int lane, int from);
/* A fault for a reason that synccheck calls invalid arguments. */
void sync_fail(struct warp *, const struct insn *, int lane, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A lane can go on no more: a finding, whichever checkers are on. `kind`: one of those above; `why`:
 * one line; `picture` (waiting.h) may be empty. */
void sync_report_stuck(struct warp *, const struct insn *, int lane, const char *kind,
                       const char *why, const char *picture);

#endif

/*
 * sync_check.h — synccheck: barriers and warp-wide operations that are used wrongly.
 *
 * It hears of arguments by machine/events.h, and of faults by fault_finding.c. What PTX or the CUDA
 * guide forbids is an error, even where today's GPUs happen to do what was meant; what merely leaves a
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

/* A lane can go on no more: a finding, whichever checkers are on. `kind`: one of those above; `why`:
 * one line; `picture` (deadlock_picture.h) may be empty. */
void sync_report_stuck(struct warp *, const struct insn *, int lane, const char *kind,
                       const char *why, const char *picture);

#endif

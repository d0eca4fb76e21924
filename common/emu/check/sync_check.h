/*
 * sync_check.h — synccheck: barriers and warp-wide operations that are used wrongly.
 *
 * The machine announces the arguments (machine/events.h); fault_finding.c passes on faults. What
 * PTX or the CUDA guide forbids is an error, even if today's GPUs do what was meant. What only
 * leaves a value undefined is a warning.
 */
#ifndef EMU_SYNC_CHECK_H
#define EMU_SYNC_CHECK_H

#include "common/emu/machine/machine.h"

/* Kinds of findings, with compute-sanitizer's names. */
#define SYNC_DIVERGENT_IN_WARP  "Barrier error detected. Divergent thread(s) in warp."
#define SYNC_DIVERGENT_IN_BLOCK "Barrier error detected. Divergent thread(s) in block."
#define SYNC_INVALID_ARGUMENTS  "Barrier error detected. Invalid arguments."
/* A kind that compute-sanitizer does not have. */
#define SYNC_ENDLESS "Endless wait or loop detected."

/* Reports a lane that can never go on, whichever checkers are on. `kind`: one of those above;
 * `why`: one line; `picture`: of deadlock_picture.h, or "". */
void sync_report_stuck(struct warp *, const struct insn *, int lane, const char *kind,
                       const char *why, const char *picture);

#endif

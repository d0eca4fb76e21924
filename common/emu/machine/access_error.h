/*
 * access_error.h — reports of invalid accesses.
 *
 * Each function announces all invalid lanes, and ends the launch with the error of the first one.
 * access->space must not be generic. In spaces other than global memory, addresses count from the
 * start of the space.
 */
#ifndef EMU_ACCESS_ERROR_H
#define EMU_ACCESS_ERROR_H

#include "access.h"

void access_misaligned(struct warp *, const struct insn *, const struct access *);
/* For global and constant memory. */
void access_outside_global(struct warp *, const struct insn *, const struct access *);
/* For the other spaces, which have `size` bytes. */
void access_outside(struct warp *, const struct insn *, const struct access *, uint64_t size);
/* For a space that cannot be written or has no atomics. */
void access_not_allowed(struct warp *, const struct insn *, const struct access *);

#endif

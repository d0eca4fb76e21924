/*
 * access_error.h — what is said of an access that is wrong.
 *
 * Each function announces every lane that is wrong, and ends the launch with the error of the
 * first. access->space is not generic; in spaces other than global memory
 * addresses count from the space's start.
 */
#ifndef EMU_ACCESS_ERROR_H
#define EMU_ACCESS_ERROR_H

#include "access.h"

void access_misaligned(struct warp *, const struct insn *, const struct access *);
/* Global and constant memory. */
void access_outside_global(struct warp *, const struct insn *, const struct access *);
/* The others, which have so many bytes. */
void access_outside(struct warp *, const struct insn *, const struct access *, uint64_t size);
/* In a space that cannot be written, or has no atomics. */
void access_not_allowed(struct warp *, const struct insn *, const struct access *);

#endif

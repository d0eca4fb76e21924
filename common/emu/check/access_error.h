/*
 * access_error.h — what is said of an access that is wrong.
 *
 * Each function ends the launch with the error of the first lane that is wrong, and with memcheck
 * on reports every lane that is. access->space is not generic; in spaces other than global memory
 * addresses count from the space's start.
 */
#ifndef EMU_ACCESS_ERROR_H
#define EMU_ACCESS_ERROR_H

#include "common/emu/machine/access.h"

void access_misaligned(struct warp *, const struct insn *, const struct access *);
/* Global and constant memory. */
void access_outside_global(struct warp *, const struct insn *, const struct access *);
/* The others, which have so many bytes. */
void access_outside(struct warp *, const struct insn *, const struct access *, uint64_t size);
/* In a space that cannot be written, or has no atomics. */
void access_not_allowed(struct warp *, const struct insn *, const struct access *);

#endif

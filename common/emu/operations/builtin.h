/* builtin.h — functions that CUDA's device runtime supplies and PTX only declares. */
#ifndef EMU_BUILTIN_H
#define EMU_BUILTIN_H

#include "common/emu/decode/warp_ops.h"
#include "common/emu/machine/machine.h"

/* vprintf (builtin_printf.c) */
void builtin_printf(struct warp *, const struct insn *, uint32_t mask);

/* ---- for them -------------------------------------------------------------------------------- */

/* A lane's argument; 0 if it is not so large. */
uint64_t builtin_argument(const struct warp *, const struct insn *, int lane, unsigned index,
                          size_t bytes);
void builtin_set_result(struct warp *, const struct insn *, int lane, const void *value,
                        size_t bytes);
/* The host's view of `bytes` at a generic address that a lane has: of global memory, of shared
 * memory, of the lane's local memory, of the kernel's parameters. NULL: they are not in memory that
 * it may read. */
const void *builtin_view(const struct warp *, int lane, uint64_t address, size_t bytes);

#endif

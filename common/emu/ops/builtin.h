/* builtin.h — functions that CUDA's device runtime supplies and PTX only declares. */
#ifndef EMU_BUILTIN_H
#define EMU_BUILTIN_H

#include "common/emu/ptx/warp_ops.h"
#include "common/emu/machine/machine.h"

/* vprintf (builtin.c) */
void builtin_printf(struct warp *, const struct insn *, uint32_t mask);

/* ---- for operations_builtin.c, builtin.c and runtime/ ---------------------------------------- */

/* A lane's argument at an index; 0 if the argument has fewer than `bytes` bytes. */
uint64_t builtin_argument(const struct warp *, const struct insn *, int lane, unsigned index,
                          size_t bytes);
void builtin_set_result(struct warp *, const struct insn *, int lane, const void *value,
                        size_t bytes);
/* Memory of the heap of malloc; 0: the heap is exhausted. */
uint64_t builtin_allocate(struct warp *, uint64_t bytes);
/* Reads `bytes` bytes at a lane's generic address, in global memory, shared memory, the lane's
 * local memory or the kernel's parameters. False: the lane may not read them. */
bool builtin_read(const struct warp *, int lane, uint64_t address, void *to, size_t bytes);

#endif

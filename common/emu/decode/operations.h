/* operations.h — finding an operation, and the wrapper for what any floating-point operation may
 * ask for. */
#ifndef EMU_OPERATIONS_H
#define EMU_OPERATIONS_H

#include "common/emu/operations/ops.h"

/* Calls the inner operation with the rounding mode and flush-to-zero of insn->rules, then clamps
 * the result if they say so. */
void op_wrapped(struct warp *, const struct insn *, uint32_t mask);
/* The same around a conversion with a register that is wider than its type. */
void op_resized(struct warp *, const struct insn *, uint32_t mask);

#endif

/* operations.h — finding an operation, and the wrapper for what any floating-point operation may ask for. */
#ifndef EMU_OPERATIONS_H
#define EMU_OPERATIONS_H

#include "ops.h"

/* Calls insn->inner with insn's rounding mode and flush-to-zero, then clamps to [0, 1] if it saturates. */
void op_wrapped(struct warp *, const struct insn *, uint32_t mask);
/* The same for results of 8 bytes a lane. */
void op_wrapped_64(struct warp *, const struct insn *, uint32_t mask);

#endif

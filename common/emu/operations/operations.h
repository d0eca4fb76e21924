/* operations.h — finding an operation, and the wrapper for what any floating-point operation may
 * ask for. */
#ifndef EMU_OPERATIONS_H
#define EMU_OPERATIONS_H

#include "ops.h"

/* Calls insn->inner with insn's rounding mode and flush-to-zero, then clamps the result if asked
 * to. */
void op_wrapped(struct warp *, const struct insn *, uint32_t mask);
/* Around a conversion whose registers are wider than its types: i->v[0] is the 64-bit source,
 * i->v[1] the 64-bit destination (NO_SLOT: as wide as the type); i->a and i->d are lanes of 32 bits
 * between. */
void op_resized(struct warp *, const struct insn *, uint32_t mask);

#endif

/*
 * operations.h — operations on 32 lanes: finding one, and the wrapper for what any floating-point
 * operation may ask for. operations/ has them; those that are more than arithmetic on each lane are
 * in warp_ops.h.
 */
#ifndef EMU_OPERATIONS_H
#define EMU_OPERATIONS_H

#include "insn.h"

/* `key` is the opcode with those modifiers that choose the operation ("mul.lo.u32"); modifiers that
 * any floating-point operation may have (.rn, .ftz, .sat) are not in it. `operands` has a letter
 * for each, destination first: 4 and 8 are registers of so many bytes a lane, p a predicate. */
struct op {
    const char *key;
    op_fn fn;
    const char *operands;
};

/* The operation for a key, with the instruction set of this processor, or NULL. A signed or untyped
 * key finds the unsigned operation where the two do not differ ("add.s32" → add.u32).
 * (operations.c) */
const struct op *op_find(const char *key);

/* Calls the inner operation with the rounding mode and flush-to-zero of insn->rules, then clamps
 * the result if they say so. */
void op_wrapped(struct warp *, const struct insn *, uint32_t mask);
/* The same around a conversion with a register that is wider than its type. */
void op_resized(struct warp *, const struct insn *, uint32_t mask);

#endif

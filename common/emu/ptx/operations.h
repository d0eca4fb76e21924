/*
 * operations.h — finds operations on 32 lanes, which the folder ops/ defines. Operations
 * that are more than arithmetic on each lane are in warp_ops.h.
 *
 * Two operations are wrappers, which call the operation in insn->rules: "by rules" rounds, flushes
 * and clamps as the rules say; "resized" also serves a conversion with a register that is wider
 * than its type.
 */
#ifndef EMU_OPERATIONS_H
#define EMU_OPERATIONS_H

#include "insn.h"

/* `key` is the opcode with the modifiers that choose the operation ("mul.lo.u32"), without those
 * that any floating-point operation may have (.rn, .ftz, .sat). `operands` has a letter for each
 * operand, the destination first: 4 and 8 are registers of 4 and 8 bytes per lane, p is a
 * predicate. */
struct op {
    const char *key;
    op_fn fn;
    const char *operands;
};

/* The operation for a key, compiled for this processor's instruction set, or NULL. A signed or
 * untyped key finds the unsigned operation if the two do the same ("add.s32" → add.u32).
 * (operations.c) */
const struct op *op_find(const char *key);

#endif

/*
 * body.h — the body of a function within a kernel's code, and whether two of its instructions
 * come from the same place in the CUDA source.
 */
#ifndef EMU_CODE_BODY_H
#define EMU_CODE_BODY_H

#include "common/emu/machine/machine.h"

struct code_body {
    const struct insn *code; /* ends with an exit or a return of its own */
    size_t count;
    const struct ptx_function *function;
};

/* The body that the instruction at index `place` of the kernel's code belongs to. */
struct code_body code_body_at(const struct emu_kernel *, size_t place);
/* The k-th instruction that may follow the n-th of a body, which is at index `base` of the kernel's
 * code; the body's count if there is no such instruction. */
size_t code_successor(const struct code_body *, size_t base, size_t n, size_t k);

/* Are two instructions the same one, or copies of one in the source? nvcc copies a barrier when it
 * unrolls a loop. Copies have the same .loc, through the same inlined calls. And one copy follows
 * the other in one pass through the code, unlike the two arms of an `if`. nvcc -G makes no copies.
 * A limit: two barriers in one source line, of which one follows the other, are taken for copies,
 * because nvcc gives them the same .loc. Without .loc two instructions are never copies. Out of
 * memory: yes. */
bool code_is_same(const struct emu_kernel *, const struct insn *, const struct insn *);

#endif

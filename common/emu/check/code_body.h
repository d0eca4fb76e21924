/*
 * code_body.h — the body of a function within a kernel's code, and whether two of its instructions
 * are one of the CUDA source.
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

/* Are two instructions the same one, or copies of the same one of the source? nvcc copies a barrier
 * where it unrolls a loop. Copies have the same .loc, through the same inlined calls, and one
 * follows the other within one pass through the code, as two arms of an if do not. nvcc -G copies
 * nothing. A limit: two barriers of one source line of which one follows the other are taken for
 * copies, because nvcc gives all of a line the same .loc. Without .loc no two are copies. Yes, too,
 * if there is no memory to find out. */
bool code_is_same(const struct emu_kernel *, const struct insn *, const struct insn *);

#endif

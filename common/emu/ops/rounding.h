/* rounding.h — carries out floating-point operations with a rounding mode and with .ftz where the
 * processor has no modes for them. On x86 ops_rules.c uses the modes instead. */
#ifndef EMU_ROUNDING_H
#define EMU_ROUNDING_H

#include "ops.h"

#if !defined __x86_64__
/* Runs insn->rules.inner on the lanes in `mask`, with the rounding and the flush-to-zero of
 * insn->rules, in software, which is slower. */
void rounding_run(struct warp *, const struct insn *, uint32_t mask);

/* The operation with this function; NULL: no operation has it. (operations.c) */
const struct op *op_of_function(op_fn);
#endif

#endif

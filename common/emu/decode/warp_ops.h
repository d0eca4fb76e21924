/*
 * warp_ops.h — operations that are more than arithmetic on each lane. decode_insn.c puts these
 * functions into insn.fn.
 */
#ifndef EMU_WARP_OPS_H
#define EMU_WARP_OPS_H

#include "common/emu/machine/machine.h"

#define WARP_OP(name) void name(struct warp *, const struct insn *, uint32_t mask)

/* atomic_wide.c */
WARP_OP(op_atomic_elements);
WARP_OP(op_atomic_128);

/* collective.c: among the lanes of the member mask; | is the predicate beside the result */
WARP_OP(op_shuffle);   /* d|predicate = a, b, c */
WARP_OP(op_vote);      /* d = a, a predicate */
WARP_OP(op_match_any); /* d = a */
WARP_OP(op_match_all); /* d|predicate = a */
WARP_OP(op_reduce);    /* d = a */
WARP_OP(op_elect);     /* d|predicate */

/* What matters to racecheck only; i->order says how far a fence reaches. */
WARP_OP(op_fence);
WARP_OP(op_proxy_fence);
WARP_OP(op_warp_sync); /* of the member mask */

WARP_OP(op_trap);
WARP_OP(op_alloca); /* frame.c */

#endif

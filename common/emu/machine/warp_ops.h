/*
 * warp_ops.h — operations that are more than arithmetic on each lane. decode_insn.c puts these
 * functions into insn.fn.
 */
#ifndef EMU_WARP_OPS_H
#define EMU_WARP_OPS_H

#include "machine.h"

#define WARP_OP(name) void name(struct warp *, const struct insn *, uint32_t mask)

/* Atomic operations, i->function of ops_access.c's "atom". */
enum atomic {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCHANGE,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC
};

/* atomic_wide.c */
enum { ATOMIC_RESULTS = 4 }; /* where results are in insn.v */
WARP_OP(op_atomic_elements);
WARP_OP(op_atomic_128);

/* collective.c: lanes of i->members */
enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT };
enum reduction { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR };
WARP_OP(op_shuffle);   /* d|v[0] = a, b, c */
WARP_OP(op_vote);      /* d = a (a predicate, flip_c: negated) */
WARP_OP(op_match_any); /* d = a */
WARP_OP(op_match_all); /* d|v[0] = a */
WARP_OP(op_reduce);    /* d = a */
WARP_OP(op_elect);     /* d|v[0] */

/* What matters to racecheck only; i->order says how far a fence reaches. */
WARP_OP(op_fence);
WARP_OP(op_proxy_fence);
WARP_OP(op_warp_sync); /* of i->members */

WARP_OP(op_trap);
WARP_OP(op_alloca); /* frame.c; d = where i->b bytes are; i->c: the stack's top */

/* ops_move.c, "clock": which clock */
enum clock { CLOCK_WARP, CLOCK_GLOBAL };

/* block.c: what a barrier tells everybody who waited (bar.red), i->function; the predicate is
 * i->c */
enum barrier_result { BARRIER_NOTHING, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };

#endif

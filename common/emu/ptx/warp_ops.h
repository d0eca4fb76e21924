/*
 * warp_ops.h — operations that are more than arithmetic on each lane. The decoder puts these
 * functions into insn.fn; ops/ and machine/ define them.
 */
#ifndef EMU_WARP_OPS_H
#define EMU_WARP_OPS_H

#include "insn.h"

#define WARP_OP(name) void name(struct warp *, const struct insn *, uint32_t mask)

/* atomic_wide.c */
WARP_OP(op_atomic_elements);
WARP_OP(op_atomic_128);

/* collective.c: exchanges among the lanes of the member mask; d|p is a result with a predicate */
WARP_OP(op_shuffle);   /* d|predicate = a, b, c */
WARP_OP(op_vote);      /* d = a, a predicate */
WARP_OP(op_match_any); /* d = a */
WARP_OP(op_match_all); /* d|predicate = a */
WARP_OP(op_reduce);    /* d = a */
WARP_OP(op_elect);     /* d|predicate */

/* Fences and bar.warp.sync, which matter only to racecheck; i->order has the scope of a fence. */
WARP_OP(op_fence);
WARP_OP(op_proxy_fence);
WARP_OP(op_warp_sync); /* of the member mask */

/* Tensor cores (ops/): mma and wmma.mma; wmma's loads and stores; ldmatrix and
 * stmatrix; movmatrix. i->matrix has the operands. */
WARP_OP(op_matrix_product);
WARP_OP(op_matrix_access);
WARP_OP(op_matrix_rows);
WARP_OP(op_matrix_transpose);

WARP_OP(op_trap);
WARP_OP(op_alloca); /* machine/warp.c */

/* ---- mbarriers (machine/barrier.c) */

void op_mbarrier(struct warp *, const struct insn *, uint32_t mask);
void op_mbarrier_test(struct warp *, const struct insn *, uint32_t mask);
void op_mbarrier_pending(struct warp *, const struct insn *, uint32_t mask); /* d = a */

/* ---- asynchronous copies: cp.async and cp.async.bulk (copy.c and bulk.c in machine/) */

void op_copy(struct warp *, const struct insn *, uint32_t mask);
void op_copy_commit(struct warp *, const struct insn *, uint32_t mask);
void op_copy_wait(struct warp *, const struct insn *, uint32_t mask);
void op_copy_arrive(struct warp *, const struct insn *, uint32_t mask);

void op_bulk(struct warp *, const struct insn *, uint32_t mask);
void op_tensor_prefetch(struct warp *, const struct insn *, uint32_t mask); /* (tensor.c) */
void op_store_async(struct warp *, const struct insn *, uint32_t mask);
void op_bulk_commit(struct warp *, const struct insn *, uint32_t mask);
void op_bulk_wait(struct warp *, const struct insn *, uint32_t mask);

/* ---- clusters (ops/cluster_ops.c) */

void op_cluster_arrive(struct warp *, const struct insn *, uint32_t mask);
void op_mapa(struct warp *, const struct insn *, uint32_t mask);       /* d = a in the block b */
void op_getctarank(struct warp *, const struct insn *, uint32_t mask); /* d = the block of a */

/* ---- functions that CUDA's device runtime supplies (ops/operations_builtin.c) */

void builtin_malloc(struct warp *, const struct insn *, uint32_t mask);
void builtin_free(struct warp *, const struct insn *, uint32_t mask);

/* The functions above and __assertfail by name; NULL for any other name. */
void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t mask);

/* Functions of the CUDA runtime that kernels may call, by the name in PTX
 * (ops/names.c); NULL for any other name. */
void (*runtime_find(const char *name))(struct warp *, const struct insn *, uint32_t mask);

#endif

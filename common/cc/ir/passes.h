/*
 * passes.h — what is done with a kernel between the tree and PTX, in this order. Each pass opens
 * with the question that it answers.
 *
 * They make the counters those of nvcc: the same accesses to shared and global memory by the same
 * lanes, the same additions. No pass moves a barrier, or moves an access across one; a barrier is
 * copied with its whole loop alone (loops.c).
 */
#ifndef CC_PASSES_H
#define CC_PASSES_H

#include "ir.h"

void passes_run(struct ir_function *);

/* Values that are computed twice; loads of what is known already. */
void pass_same_values(struct ir_function *);
/* Short loops with a constant number of iterations, as copies. */
void pass_unroll(struct ir_function *);
void pass_addresses(struct ir_function *);
void pass_loads(struct ir_function *);
/* What is the same in each iteration of a loop. */
void pass_loops(struct ir_function *);
/* Arrays and variables in local memory that registers can hold. */
void pass_slots(struct ir_function *);
/* What is common to both arms of an `if`; arms that are no branch. */
void pass_branches(struct ir_function *);
/* Operations with a constant on what was chosen. */
void pass_choices(struct ir_function *);
/* Values that nothing uses; stores that nothing reads. */
void pass_unused(struct ir_function *);
/* Values that one way alone needs. */
void pass_sink(struct ir_function *);
/* The order of the operands of sums, and the signs of constants in them. */
void pass_operands(struct ir_function *);
/* Neighbouring accesses become one. */
void pass_pairs(struct ir_function *);
/* a * b + c */
void pass_fuse(struct ir_function *);

/* ---- whether accesses touch the same memory (alias.c) ---------------------------------------- */

/* Addresses as pass_addresses leaves them. */
bool same_address(struct ir_value *a, struct ir_value *b);
/* May anything that `value` does change what the load reads? (Or, for a store: read or change.) */
bool may_change(struct ir_function *, struct ir_value *value, struct ir_value *access);
bool may_touch(struct ir_function *, struct ir_value *value, struct ir_value *access);

#endif

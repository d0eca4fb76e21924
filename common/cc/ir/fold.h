/* fold.h — what fold.c asks of constant.c. */
#ifndef CC_FOLD_H
#define CC_FOLD_H

#include "ir.h"

/* The constant that a value of constants is, computed as the GPU computes it; NULL: an operand is
 * no constant, or the result is undefined in C, and left to the GPU. */
struct ir_value *fold_constants(struct ir_function *, struct ir_value *);

/* Is it known that this real number is not -0.0? `depth` is 0. */
bool fold_is_never_minus_zero(struct ir_value *, int depth);

#endif

/*
 * operator.h — which operators step 17 has, and what one of them does, on the CPU.
 */
#ifndef STEP17_OPERATOR_H
#define STEP17_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums; and h = a h + b, from h = 0 on, with two inputs a and b. */
enum many_op { MANY_SUM_F32, MANY_SUM_F64, MANY_SUM_I32, MANY_SUM_I64, MANY_AFFINE_F32, MANY_OPS };

/* What is combined: a sum, or the map h -> a h + b. */
union many_state {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    struct {
        float a, b;
    } affine;
};

/* The bytes of an element, and of a state in device memory. */
size_t many_element_bytes(enum many_op);
size_t many_state_bytes(enum many_op);

union many_state many_identity(enum many_op);

/* The state of element i. in2 is read for MANY_AFFINE_F32 only. */
union many_state many_enter(enum many_op, const void *in, const void *in2, size_t i);

union many_state many_combine(enum many_op, union many_state left, union many_state right);

/* Writes the result: the state of all elements that count for element i. */
void many_leave(enum many_op, void *out, size_t i, union many_state);

#ifdef __cplusplus
}
#endif

#endif

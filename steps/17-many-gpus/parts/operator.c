/* operator.c — what an operator does, on the CPU. The kernels use step 16's operators.cuh. */
#include "shape.h"

#include <math.h>

size_t many_element_bytes(enum many_op op)
{
    return op == MANY_SUM_F64 || op == MANY_SUM_I64 ? 8 : 4;
}

size_t many_state_bytes(enum many_op op)
{
    return op == MANY_AFFINE_F32 ? 8 : many_element_bytes(op);
}

union many_state many_identity(enum many_op op)
{
    union many_state s = {.i64 = 0};
    if (op == MANY_AFFINE_F32) s.affine.a = 1;
    return s;
}

union many_state many_enter(enum many_op op, const void *in, const void *in2, size_t i)
{
    union many_state s = {.i64 = 0};
    switch (op) {
    case MANY_SUM_F32: s.f32 = ((const float *)in)[i]; break;
    case MANY_SUM_F64: s.f64 = ((const double *)in)[i]; break;
    case MANY_SUM_I32: s.i32 = ((const int32_t *)in)[i]; break;
    case MANY_SUM_I64: s.i64 = ((const int64_t *)in)[i]; break;
    default: s.affine.a = ((const float *)in)[i], s.affine.b = ((const float *)in2)[i];
    }
    return s;
}

/* Integers wrap: they are added as unsigned ones. */
union many_state many_combine(enum many_op op, union many_state left, union many_state right)
{
    union many_state s = {.i64 = 0};
    switch (op) {
    case MANY_SUM_F32: s.f32 = left.f32 + right.f32; break;
    case MANY_SUM_F64: s.f64 = left.f64 + right.f64; break;
    case MANY_SUM_I32: s.i32 = (int32_t)((uint32_t)left.i32 + (uint32_t)right.i32); break;
    case MANY_SUM_I64: s.i64 = (int64_t)((uint64_t)left.i64 + (uint64_t)right.i64); break;
    default:
        s.affine.a = right.affine.a * left.affine.a;
        s.affine.b = fmaf(right.affine.a, left.affine.b, right.affine.b);
    }
    return s;
}

void many_leave(enum many_op op, void *out, size_t i, union many_state s)
{
    switch (op) {
    case MANY_SUM_F32: ((float *)out)[i] = s.f32; break;
    case MANY_SUM_F64: ((double *)out)[i] = s.f64; break;
    case MANY_SUM_I32: ((int32_t *)out)[i] = s.i32; break;
    case MANY_SUM_I64: ((int64_t *)out)[i] = s.i64; break;
    default: ((float *)out)[i] = s.affine.b;
    }
}

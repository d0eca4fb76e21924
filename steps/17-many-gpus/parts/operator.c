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

/*
 * left_out.c — stands in for step 16's scans that `make test` does not test, and for which nvcc
 * takes minutes. They return an error.
 */
#include <cuda_runtime.h>

#define LEFT_OUT(name)                                                                             \
    cudaError_t scan_##name(void);                                                                 \
    cudaError_t scan_##name(void) { return cudaErrorNotSupported; }

LEFT_OUT(sum_f32)
LEFT_OUT(sum_f64)
LEFT_OUT(max_i32)
LEFT_OUT(max_i64)
LEFT_OUT(min_f32)
LEFT_OUT(min_f64)
LEFT_OUT(min_i32)
LEFT_OUT(min_i64)
LEFT_OUT(product_f32)
LEFT_OUT(product_f64)
LEFT_OUT(product_i64)
LEFT_OUT(xor_u32)
LEFT_OUT(xor_u64)
LEFT_OUT(logsumexp_f32)
LEFT_OUT(logsumexp_f64)
LEFT_OUT(affine_f32)
LEFT_OUT(affine_f64)
LEFT_OUT(decay_f32)
LEFT_OUT(decay_f64)
LEFT_OUT(argmax_f32)
LEFT_OUT(argmax_f64)
LEFT_OUT(argmax_i32)
LEFT_OUT(argmax_i64)
LEFT_OUT(argmin_f32)
LEFT_OUT(argmin_f64)
LEFT_OUT(argmin_i32)
LEFT_OUT(argmin_i64)

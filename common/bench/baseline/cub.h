/* cub.h — CUB's exclusive sum for each type: see cub.cu. Without a workspace it only stores in
 * *bytes how large the workspace must be. */
#ifndef BASELINE_CUB_H
#define BASELINE_CUB_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef cudaError_t cub_fn(void *workspace, size_t *bytes, void *out, const void *in, size_t n,
                           cudaStream_t stream);
cub_fn cub_f32, cub_f64, cub_i32, cub_i64, cub_i16, cub_i8;
/* CUB_VERSION. Weak, because each type's object has it. */
extern const int cub_version __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif

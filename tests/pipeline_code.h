/* pipeline_code.h — launches of step 12's kernels with any number of blocks. */
#ifndef PIPELINE_CODE_H
#define PIPELINE_CODE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exclusive scans of n elements, aligned to 16 bytes, with a workspace as for scan.h. */
cudaError_t launch_pipeline_f32(float *out, const float *in, size_t n, void *workspace,
                                unsigned blocks);
cudaError_t launch_pipeline_f64(double *out, const double *in, size_t n, void *workspace,
                                unsigned blocks);
cudaError_t launch_direct_f32(float *out, const float *in, size_t n, void *workspace,
                              unsigned blocks);
cudaError_t launch_direct_f64(double *out, const double *in, size_t n, void *workspace,
                              unsigned blocks);

#ifdef __cplusplus
}
#endif

#endif

/* race-copy-group.cu — asynchronous copies of single words: __syncthreads() does not wait for them.
 * Each thread must wait for its own before. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void reverse(int *out, const int *in)
{
    __shared__ int words[128];
    __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = words[127 - threadIdx.x];
    __pipeline_wait_prior(0);
}

PAIR(reverse<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-copy-wait.cu — asynchronous copies in two groups. A thread that needs the second group
 * must wait for both. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void reverse(int *out, const int *in)
{
    __shared__ int words[2][128];
    for (int group = 0; group < 2; group++) {
        __pipeline_memcpy_async(&words[group][threadIdx.x], &in[threadIdx.x], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(right ? 0 : 1);
    __syncthreads();
    out[threadIdx.x] = words[1][127 - threadIdx.x];
    __pipeline_wait_prior(0);
}

PAIR(reverse<right>, 1, 128, zeros<int>(128), zeros<int>(128))

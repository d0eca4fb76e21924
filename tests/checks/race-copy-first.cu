/* race-copy-first.cu — asynchronous copies in two groups. A thread that needs the first group may
 * leave the second under way, but not both. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void reverse(const int *in, int *out)
{
    __shared__ int words[2][256];
    for (int group = 0; group < 2; group++) {
        __pipeline_memcpy_async(&words[group][threadIdx.x], &in[group * 256 + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(right ? 1 : 2);
    __syncthreads();
    /* racecheck: RAW hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[0][255 - threadIdx.x];
    __pipeline_wait_prior(0);
}

PAIR(reverse<right>, 1, 256, numbers<int>(512), zeros<int>(256))

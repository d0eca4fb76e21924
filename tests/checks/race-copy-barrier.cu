/* race-copy-barrier.cu — each thread waits for its own copies. The others' words also need a
 * barrier. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void reverse(const int *in, int *out)
{
    __shared__ int words[256];
    __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (right) __syncthreads();
    /* racecheck: hazard at __shared__; initcheck: Uninitialized */
    out[threadIdx.x] = words[255 - threadIdx.x];
}

PAIR(reverse<right>, 1, 256, numbers<int>(256), zeros<int>(256))

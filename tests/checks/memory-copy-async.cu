/* memory-copy-async.cu — an asynchronous copy of 16 bytes begins 8 bytes before the end of an
 * array. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void load(const int *in, int *out)
{
    __shared__ int4 tile[16];
    int *words = (int *)tile, i = 4 * threadIdx.x;
    if (!right || threadIdx.x < 15)
        __pipeline_memcpy_async(words + i, in + i, 16); /* memcheck: Invalid __global__ read */
    else
        for (int j = 0; j < 4; j++) words[i + j] = j < 2 ? in[i + j] : 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = words[i] + words[i + 3];
}

PAIR(load<right>, 1, 16, zeros<int>(62), zeros<int>(16))

/* sync-roles.cu — two warps wait at two barriers in two functions, which are not the same
 * barrier. */
#include "pair.h"

__device__ __noinline__ void produce(int *words)
{
    words[threadIdx.x] = threadIdx.x;
    __syncthreads(); /* synccheck: Divergent thread(s) in block */
}

__device__ __noinline__ void consume(int *out, const int *words)
{
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x - 32];
}

template <bool right> __global__ void hand_over(int *out)
{
    __shared__ int words[32];
    if (right) {
        if (threadIdx.x < 32) words[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x >= 32) out[threadIdx.x] = words[threadIdx.x - 32];
    } else if (threadIdx.x < 32)
        produce(words);
    else
        consume(out, words);
}

PAIR(hand_over<right>, 1, 64, zeros<int>(64))

/* sync-exit.cu — threads without work leave before the barrier that the others wait at. */
#include "pair.h"

template <bool right> __global__ void sum(const int *in, int *out, int n)
{
    __shared__ int words[128];
    if (!right && threadIdx.x >= n) return;
    words[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in block */
    if (threadIdx.x < n) out[threadIdx.x] = words[n - 1 - threadIdx.x];
}

PAIR(sum<right>, 1, 128, zeros<int>(100), zeros<int>(100), 100)

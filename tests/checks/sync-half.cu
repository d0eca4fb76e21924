/* sync-half.cu — half of a warp reaches a barrier, and the other half does not. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 1;
        if (!right) __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in block */
    }
    if (right) __syncthreads();
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

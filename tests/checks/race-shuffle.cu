/* race-shuffle.cu — a shuffle exchanges registers, and orders no memory. */
#include "pair.h"

template <bool right> __global__ void sum(int *out)
{
    __shared__ int words[32];
    words[threadIdx.x] = threadIdx.x;
    int next = __shfl_down_sync(~0u, threadIdx.x, 1);
    if (right) __syncwarp();
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp() */
    out[threadIdx.x] = words[threadIdx.x ^ 1] + next;
}

PAIR(sum<right>, 1, 32, zeros<int>(32))

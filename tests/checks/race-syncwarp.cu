/* race-syncwarp.cu — __syncwarp orders the lanes of a warp, not the warps of a block. */
#include "pair.h"

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int other = right ? threadIdx.x ^ 31 : 63 - threadIdx.x;
    out[threadIdx.x] = words[other];
}

PAIR(reverse<right>, 1, 64, zeros<int>(64))

/* race-mask.cu — __syncwarp() orders the lanes of its mask: here those of one half of the warp. */
#include "pair.h"

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[32];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp(threadIdx.x < 16 ? 0xffff : 0xffff0000);
    out[threadIdx.x] = words[right ? threadIdx.x ^ 15 : 31 - threadIdx.x];
}

PAIR(reverse<right>, 1, 32, zeros<int>(32))

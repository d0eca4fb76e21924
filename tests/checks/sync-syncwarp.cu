/* sync-syncwarp.cu — half of a warp reaches __syncwarp(), which waits for all lanes. */
#include "pair.h"

template <bool right> __global__ void exchange(int *out)
{
    __shared__ int words[32];
    if (threadIdx.x < 16) {
        words[threadIdx.x] = threadIdx.x;
        __syncwarp(right ? 0x0000ffff : 0xffffffff); /* synccheck: which have exited */
        out[threadIdx.x] = words[threadIdx.x ^ 1];
    }
}

PAIR(exchange<right>, 1, 32, zeros<int>(32))

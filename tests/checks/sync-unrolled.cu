/* sync-unrolled.cu — nvcc unrolls a loop with one barrier. Warps may reach different copies of it,
 * the lanes of a warp may not. */
#include "pair.h"

template <bool right> __global__ void turns(int *out)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (threadIdx.x / (right ? 32 : 1) % 2 == i % 2) {
            out[threadIdx.x] = i;
            __syncthreads(); /* synccheck: Divergent thread(s) in warp */
        }
}

PAIR(turns<right>, 1, 64, zeros<int>(64))

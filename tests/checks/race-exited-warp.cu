/* race-exited-warp.cu — a warp stores its words and exits. The barrier goes on without it, and so
 * does not order its stores before the loads of the others. */
#include "pair.h"

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    if (!right && threadIdx.x >= 32) return;
    __syncthreads(); /* synccheck: Barrier without warps */
    /* racecheck: Race reported */
    out[threadIdx.x] = words[63 - threadIdx.x];
}

PAIR(reverse<right>, 1, 64, zeros<int>(64))

/* sync-mask.cu — a lane that calls __syncwarp is in the mask that it names. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < 16);
    /* synccheck, memcheck: own member mask */
    if (threadIdx.x < (right ? 16 : 17)) __syncwarp(mask);
    out[threadIdx.x] = mask;
}

PAIR(meet<right>, 1, 32, zeros<int>(32))

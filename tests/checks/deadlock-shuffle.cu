/* deadlock-shuffle.cu — lane 0 waits at a barrier of the block, and its warp waits for lane 0
 * at a shuffle. */
#include "pair.h"

template <bool right> __global__ void publish(int *out)
{
    int value = threadIdx.x;
    if (!right && threadIdx.x == 0)
        __syncthreads();
    else
        value = __shfl_sync(0xffffffff, value, 1); /* synccheck, memcheck: deadlock */
    if (right) __syncthreads();
    out[threadIdx.x] = value;
}

PAIR(publish<right>, 1, 64, zeros<int>(64))

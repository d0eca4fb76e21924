/* sync-against-shuffle.cu — lane 0 waits for its block at a barrier, and the other lanes wait for
 * lane 0 at a shuffle. */
#include "pair.h"

template <bool right> __global__ void take(int *out)
{
    int value = threadIdx.x;
    if (!right && threadIdx.x == 0) __syncthreads();
    /* synccheck, memcheck: Divergent thread(s) in warp */
    if (right || threadIdx.x > 0) value = __shfl_sync(0xffffffff, value, 1);
    out[threadIdx.x] = value;
}

PAIR(take<right>, 1, 256, zeros<int>(256))

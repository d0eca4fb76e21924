/* sync-shuffle.cu — a shuffle in divergent code names lanes that do not reach it. */
#include "pair.h"

template <bool right> __global__ void take(int *out)
{
    int value = threadIdx.x;
    /* synccheck: Member mask with threads that have exited */
    if (threadIdx.x < 16) value = __shfl_down_sync(right ? 0xffff : 0xffffffff, value, 1, 16);
    out[threadIdx.x] = value;
}

PAIR(take<right>, 1, 32, zeros<int>(32))

/* sync-source.cu — a lane takes the value of a lane that does not take part in the shuffle. */
#include "pair.h"

template <bool right> __global__ void neighbour(int *out)
{
    int value = threadIdx.x, after = 0;
    if (right) after = __shfl_down_sync(0xffffffff, value, 1);
    if (threadIdx.x < 12) {
        if (!right) after = __shfl_down_sync(0xfff, value, 1); /* synccheck: Undefined value */
        value = after;
    }
    out[threadIdx.x] = value;
}

PAIR(neighbour<right>, 1, 32, zeros<int>(32))

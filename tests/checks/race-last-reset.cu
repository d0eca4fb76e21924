/* race-last-reset.cu — the last block resets the counter for the next launch, by a plain store: its
 * ticket shows that all others have counted. No other block may reset it. */
#include "pair.h"

template <bool right> __global__ void add_up(int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    unsigned ticket = atomicInc(done, gridDim.x);
    __threadfence();
    if (ticket == gridDim.x - 1)
        for (int i = 0; i < gridDim.x; i++) *sum += parts[i];
    if (ticket == (right ? gridDim.x - 1 : gridDim.x / 2)) *done = 0;
}

PAIR(add_up<right>, 16, 1, zeros<int>(16), zeros<unsigned>(1), zeros<int>(1))

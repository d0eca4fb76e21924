/* race-last-array.cu — the ticket lies in an array in shared memory and reaches the other threads
 * by a shuffle. The first ticket does not say that the other blocks have drawn theirs. */
#include "pair.h"

template <bool right> __global__ void draw(unsigned *done, const int *data)
{
    __shared__ unsigned tickets[64];
    if (threadIdx.x == 0) {
        __threadfence();
        tickets[data[1]] = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    unsigned ticket = __shfl_sync(~0u, threadIdx.x % 32 == 1 ? tickets[1] : 0, 1);
    /* racecheck: WAW hazard at __global__ */
    if (threadIdx.x == 32 && ticket == (right ? gridDim.x - 1 : 0)) *done = 0;
}

PAIR(draw<right>, 8, 64, zeros<unsigned>(1), numbers<int>(2))

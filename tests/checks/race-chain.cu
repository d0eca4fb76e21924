/* race-chain.cu — each block passes a number to the next one. The fence before the flag makes the
 * number visible first. */
#include "pair.h"

template <bool right> __global__ void chain(int *data, int *flags)
{
    if (threadIdx.x > 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) continue;
        /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
        before = data[blockIdx.x - 1];
    }
    data[blockIdx.x] = before + 1;
    if (right) __threadfence();
    *(volatile int *)&flags[blockIdx.x] = 1;
}

PAIR(chain<right>, 20, 32, numbers<int>(20), zeros<int>(20))

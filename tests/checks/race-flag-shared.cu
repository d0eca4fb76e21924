/* race-flag-shared.cu — a flag in shared memory from one warp to another. Its warp needs a
 * fence. */
#include "pair.h"

template <bool right> __global__ void hand_over(int *data)
{
    __shared__ int words[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        words[threadIdx.x] = data[threadIdx.x];
        if (right) __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0) ready = 1;
    } else {
        while (!ready) continue;
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads; strict readers: hazard */
        data[threadIdx.x] = words[threadIdx.x - 32];
    }
}

PAIR(hand_over<right>, 1, 64, numbers<int>(64))

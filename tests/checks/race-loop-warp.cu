/* race-loop-warp.cu — lanes of a warp exchange words in a loop. The barrier lies after the stores;
 * one must also lie after the loads. */
#include "pair.h"

template <bool right> __global__ void rotate(int *data)
{
    __shared__ int words[256];
    int word = data[threadIdx.x], next = threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32;
    for (int turn = 0; turn < 4; turn++) {
        /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        words[threadIdx.x] = word;
        __syncthreads();
        word = words[next];
        if (right) __syncthreads();
    }
    data[threadIdx.x] = word;
}

PAIR(rotate<right>, 1, 256, numbers<int>(256))

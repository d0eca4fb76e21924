/* race-slot-warps.cu — one warp of a block passes words to another through shared memory. The first
 * must wait until the second has read them. */
#include "pair.h"

template <bool right> __global__ void hand_on(int *out)
{
    __shared__ int words[32];
    __shared__ volatile int full, read;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) full = read = 0;
    __syncthreads();
    for (int i = 1; i <= 4; i++)
        if (threadIdx.x < 32) {
            while (right && read < i - 1) continue;
            __threadfence_block();
            words[lane] = i;
            __threadfence_block();
            __syncwarp();
            if (lane == 0) full = i;
        } else {
            while (full < i) continue;
            __threadfence_block();
            out[lane] += words[lane];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) read = i;
        }
}

PAIR(hand_on<right>, 1, 64, zeros<int>(32))

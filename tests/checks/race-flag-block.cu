/* race-flag-block.cu — thread 0 sets the flag for its block. A barrier must lie between the
 * other threads' stores and its fence. */
#include "pair.h"

template <bool right> __global__ void hand_over(volatile int *flag, int *values, int *out)
{
    if (blockIdx.x == 0) {
        values[threadIdx.x] = threadIdx.x;
        if (right) __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) continue;
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = values[127 - threadIdx.x];
    }
}

PAIR(hand_over<right>, 2, 128, zeros<int>(1), zeros<int>(128), zeros<int>(128))

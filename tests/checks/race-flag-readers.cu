/* race-flag-readers.cu — thread 0 waits for the flag. The other threads of its block may read the
 * value only behind a barrier. */
#include "pair.h"

template <bool right> __global__ void hand_over(volatile int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x > 0) return;
        *value = 42;
        __threadfence();
        *flag = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) continue;
            __threadfence();
        }
        if (right) __syncthreads();
        out[threadIdx.x] = *value;
    }
}

PAIR(hand_over<right>, 2, 128, zeros<int>(1), zeros<int>(1), zeros<int>(128))

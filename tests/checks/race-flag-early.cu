/* race-flag-early.cu — the flag is set before the value is stored. */
#include "pair.h"

template <bool right> __global__ void hand_over(volatile int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        if (right) *value = 42;
        __threadfence();
        *flag = 1;
        if (!right) *value = 42;
    } else {
        while (*flag == 0) continue;
        __threadfence();
        *out = *value;
    }
}

PAIR(hand_over<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

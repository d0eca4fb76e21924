/* race-flag-plain.cu — a flag is polled by volatile loads. The store must be volatile, too. */
#include "pair.h"

template <bool right> __global__ void hand_over(int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        *value = 42;
        __threadfence();
        if (right)
            *(volatile int *)flag = 1;
        else
            *flag = 1;
    } else {
        while (*(volatile int *)flag == 0) continue;
        __threadfence();
        *out = *value;
    }
}

PAIR(hand_over<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

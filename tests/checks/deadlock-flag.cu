/* deadlock-flag.cu — a block waits for a flag that another block sets only if there is work. */
#include "pair.h"

template <bool right> __global__ void hand_over(volatile int *flag, int *out, int work)
{
    if (blockIdx.x == 0) {
        if (right || work > 0) *flag = 1;
    } else {
        while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
        *out = 1;
    }
}

PAIR(hand_over<right>, 2, 1, zeros<int>(1), zeros<int>(1), 0)

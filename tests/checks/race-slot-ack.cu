/* race-slot-ack.cu — the reader signals that it has read before it reads. */
#include "pair.h"

template <bool right> __global__ void hand_on(int *slot, int *full, int *out)
{
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (atomicAdd(full, 0)) continue;
            __threadfence();
            *slot = i;
            __threadfence();
            atomicExch(full, 1);
        } else {
            while (!atomicAdd(full, 0)) continue;
            __threadfence();
            if (right) out[i - 1] = *slot;
            __threadfence();
            atomicExch(full, 0);
            if (!right) out[i - 1] = *slot;
        }
}

PAIR(hand_on<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(4))

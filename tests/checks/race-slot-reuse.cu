/* race-slot-reuse.cu — one block passes values to another through one slot. Before it stores the
 * next value it must wait until the last one has been read. */
#include "pair.h"

template <bool right>
__global__ void hand_on(int *slot, volatile int *full, volatile int *read, int *out)
{
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (right && *read < i - 1) continue;
            __threadfence();
            *slot = i;
            __threadfence();
            *full = i;
        } else {
            while (*full < i) continue;
            __threadfence();
            out[i - 1] = *slot;
            __threadfence();
            *read = i;
        }
}

PAIR(hand_on<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(4))

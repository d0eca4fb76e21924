/* race-turns.cu — Peterson's lock of two blocks. The number of the block in turn is loaded and
 * later stored, but the stored value does not depend on the loaded one. The lock needs fences. */
#include "pair.h"

template <bool right> __global__ void count(volatile int *wants, volatile int *turn, int *counter)
{
    int own = blockIdx.x, other = 1 - own;
    for (int i = 0; i < 10; i++) {
        wants[own] = 1;
        *turn = other;
        __threadfence();
        while (wants[other] && *turn == other) continue;
        if (right) __threadfence();
        *counter += 1; /* racecheck: hazard at __global__ */
        if (right) __threadfence();
        wants[own] = 0;
    }
}

PAIR(count<right>, 2, 1, zeros<int>(2), zeros<int>(1), zeros<int>(1))

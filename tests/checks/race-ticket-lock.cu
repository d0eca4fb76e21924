/* race-ticket-lock.cu — a lock by tickets. The block with the current number may enter. A fence
 * must order its accesses to the data. */
#include "pair.h"

template <bool right> __global__ void count(int *next, volatile int *shown, int *counter)
{
    int mine = atomicAdd(next, 1);
    while (*shown != mine) continue;
    if (right) __threadfence();
    *counter += 1;
    if (right) __threadfence();
    *shown = *shown + 1;
}

PAIR(count<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

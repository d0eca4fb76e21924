/* race-lock-try.cu — a thread tries to take the lock once, and changes the counter even if it does
 * not have the lock. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter)
{
    bool mine = atomicCAS(lock, 0, 1) == 0;
    while (right && !mine) mine = atomicCAS(lock, 0, 1) == 0;
    __threadfence();
    *counter += 1;
    __threadfence();
    if (mine) atomicExch(lock, 0);
}

PAIR(count<right>, 8, 32, zeros<int>(1), zeros<int>(1))

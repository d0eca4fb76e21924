/* race-lock-release.cu — a lock is released by an atomic. A plain store races with the atomics that
 * try to take the lock. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    if (right)
        atomicExch(lock, 0);
    else
        *lock = 0;
}

PAIR(count<right>, 8, 1, zeros<int>(1), zeros<int>(1))

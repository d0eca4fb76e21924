/* race-lock.cu — a lock. Without fences the next owner need not see what the last one has
 * stored. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    if (right) __threadfence();
    /* racecheck: hazard at __global__; racecheck: lock with fences */
    *counter += 1;
    if (right) __threadfence();
    atomicExch(lock, 0);
}

PAIR(count<right>, 8, 32, zeros<int>(1), zeros<int>(1))

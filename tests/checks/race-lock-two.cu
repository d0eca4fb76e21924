/* race-lock-two.cu — a counter that some blocks change under one lock, and others under another
 * lock, is not guarded. */
#include "pair.h"

template <bool right> __global__ void count(int *locks, int *counter)
{
    int *lock = &locks[right ? 0 : blockIdx.x % 2];
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

PAIR(count<right>, 8, 1, zeros<int>(2), zeros<int>(1))

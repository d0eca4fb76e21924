/* race-lock-after.cu — the counter is read again after the lock has been released. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter, int *out)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    int now = *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
    out[blockIdx.x] = right ? now : *counter;
}

PAIR(count<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(8))

/* race-lock-volatile.cu — a lock without fences, around a volatile counter. Volatile accesses
 * order nothing: the next owner may still load the old value. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, volatile int *counter)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    if (right) __threadfence();
    *counter = *counter + 1;
    if (right) __threadfence();
    atomicExch(lock, 0);
}

PAIR(count<right>, 8, 32, zeros<int>(1), zeros<int>(1))

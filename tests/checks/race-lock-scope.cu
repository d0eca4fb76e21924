/* race-lock-scope.cu — a lock between blocks needs fences with the scope of the device.
 * __threadfence_block() is for the threads of one block. */
#include "pair.h"

template <bool right> __device__ void fence()
{
    if (right)
        __threadfence();
    else
        __threadfence_block();
}

template <bool right> __global__ void count(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    fence<right>();
    *counter += 1;
    fence<right>();
    atomicExch(lock, 0);
}

PAIR(count<right>, 8, 1, zeros<int>(1), zeros<int>(1))

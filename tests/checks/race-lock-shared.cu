/* race-lock-shared.cu — a lock in shared memory, between the warps of a block, needs fences as
 * well. */
#include "pair.h"

template <bool right> __global__ void count(int *out)
{
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = counter = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) continue;
        if (right) __threadfence_block();
        counter += 1;
        if (right) __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = counter;
}

PAIR(count<right>, 1, 256, zeros<int>(1))

/* race-last-barrier.cu — thread 0 draws the ticket for its block. A barrier must lie before
 * that, so that the stores of all its threads come first. */
#include "pair.h"

template <bool right> __global__ void add_up(int *parts, unsigned *done, int *sum)
{
    __shared__ bool is_last;
    parts[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    if (right) __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(done, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i * blockDim.x + threadIdx.x];
    atomicAdd(sum, total);
}

PAIR(add_up<right>, 8, 64, zeros<int>(8 * 64), zeros<unsigned>(1), zeros<int>(1))

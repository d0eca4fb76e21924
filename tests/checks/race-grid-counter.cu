/* race-grid-counter.cu — a barrier of the grid by a counter. It needs fences before a block is
 * counted and behind its wait. */
#include "pair.h"

template <bool right> __device__ void meet(int *count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        if (right) __threadfence();
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x) continue;
        if (right) __threadfence();
    }
    __syncthreads();
}

template <bool right> __global__ void exchange(int *count, int *words, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    words[own] = own;
    meet<right>(count);
    out[own] = words[all - 1 - own];
}

PAIR(exchange<right>, 4, 64, zeros<int>(1), zeros<int>(256), zeros<int>(256))

/* race-grid-fences.cu — a barrier of the grid as in CUB: every thread has a fence after its stores,
 * and then one thread signals for its block. */
#include "pair.h"

template <bool right> __global__ void exchange(int *data, int *count, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    data[own] = threadIdx.x;
    if (right) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < (int)gridDim.x) continue;
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
    out[own] = data[(own + blockDim.x) % all];
}

PAIR(exchange<right>, 8, 256, numbers<int>(2048), zeros<int>(1), zeros<int>(2048))

/* race-last-inc.cu — CUDA's threadFenceReduction: the last block adds up what all have stored. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *data, int *sums, unsigned *done, int *total)
{
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, data[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        if (right) __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
    if (last && threadIdx.x < gridDim.x) atomicAdd(total, ((volatile int *)sums)[threadIdx.x]);
}

PAIR(add_up<right>, 8, 256, numbers<int>(2048), zeros<int>(8), zeros<unsigned>(1), zeros<int>(1))

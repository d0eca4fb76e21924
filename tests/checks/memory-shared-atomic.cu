/* memory-shared-atomic.cu — a histogram in shared memory has one bin too few. */
#include "pair.h"

template <bool right> __global__ void count(const int *in, int *out)
{
    __shared__ int bins[right ? 17 : 16];
    if (threadIdx.x < 16 + right) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = in[threadIdx.x] + threadIdx.x % 17;
    atomicAdd(&bins[bin], 1); /* memcheck: Invalid __shared__ atomic of size 4 bytes */
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

PAIR(count<right>, 1, 64, zeros<int>(64), zeros<int>(16))

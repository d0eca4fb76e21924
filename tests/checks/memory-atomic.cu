/* memory-atomic.cu — a histogram whose bins are one too few. */
#include "pair.h"

__global__ void count(const int *in, int *bins, int limit)
{
    /* memcheck: Invalid __global__ atomic */
    atomicAdd(&bins[in[threadIdx.x] + threadIdx.x % limit], 1);
}

PAIR(count, 1, 64, zeros<int>(64), zeros<int>(16), right ? 16 : 17)

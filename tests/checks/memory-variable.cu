/* memory-variable.cu — an index leads beyond a __device__ array. */
#include "pair.h"

__device__ int table[64];

__global__ void look_up(int *out, int first)
{
    out[threadIdx.x] = table[first + threadIdx.x]; /* memcheck: Invalid __global__ read */
}

PAIR(look_up, 1, 64, zeros<int>(64), right ? 0 : 1)

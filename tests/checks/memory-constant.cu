/* memory-constant.cu — a filter of radius 3 uses weights for radius 2. */
#include "pair.h"

__constant__ int weights[5];

__global__ void filter(const int *in, int *out, int radius)
{
    int sum = 0;
    for (int d = -radius; d <= radius; d++)
        sum += in[threadIdx.x + d + 3] * weights[d + 2]; /* memcheck: Invalid __constant__ read */
    out[threadIdx.x] = sum;
}

PAIR(filter, 1, 64, zeros<int>(70), zeros<int>(64), right ? 2 : 3)

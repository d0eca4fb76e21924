/* memory-shared-parts.cu — a part of dynamic shared memory for doubles begins at a multiple of
 * 4 bytes only. */
#include "pair.h"

template <bool right> __global__ void split(double *out)
{
    extern __shared__ __align__(8) char parts[];
    int *counts = (int *)parts;
    double *sums = (double *)(parts + (right ? 4 : 3) * sizeof(int));
    if (threadIdx.x < 3) counts[threadIdx.x] = threadIdx.x;
    sums[threadIdx.x] = threadIdx.x; /* memcheck: Invalid __shared__ write of size 8 bytes */
    __syncthreads();
    out[threadIdx.x] = sums[31 - threadIdx.x] + counts[threadIdx.x % 3];
}

HOST
{
    double *out = zeros<double>(32);
    int bytes = 4 * sizeof(int) + 32 * sizeof(double);
    (right ? split<true> : split<false>)<<<1, 32, bytes>>>(out);
}

/* init-branch.cu — a kernel writes its result in one of two cases only. */
#include "pair.h"

template <bool right> __global__ void pick(const int *in, int *flags)
{
    if (in[threadIdx.x] > 0) flags[threadIdx.x] = 1;
    if (right && in[threadIdx.x] <= 0) flags[threadIdx.x] = 0;
}

__global__ void count(const int *flags, int *sum)
{
    atomicAdd(sum, flags[threadIdx.x]); /* initcheck: Uninitialized __global__ memory read */
}

HOST
{
    int *in = zeros<int>(64), *sum = zeros<int>(1), *flags = unwritten<int>(64);
    pick<right><<<1, 64>>>(in, flags);
    count<<<1, 64>>>(flags, sum);
}

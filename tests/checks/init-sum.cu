/* init-sum.cu — blocks add to a sum that was not cleared. */
#include "pair.h"

__global__ void add_up(const int *in, int *sum)
{
    atomicAdd(sum, in[threadIdx.x]); /* initcheck: Uninitialized __global__ memory read */
}

HOST
{
    int *in = zeros<int>(64), *sum = unwritten<int>(1);
    if (right) cudaMemset(sum, 0, sizeof(int));
    add_up<<<1, 64>>>(in, sum);
}

/* memory-blocks.cu — the number of blocks is rounded up, but the number of their sums is
 * rounded down. */
#include "pair.h"

__global__ void add_blocks(const int *in, int *sums, int n)
{
    __shared__ int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum; /* memcheck: Invalid __global__ write of size 4 bytes */
}

HOST
{
    enum { N = 1000, THREADS = 128 };
    int blocks = (N + THREADS - 1) / THREADS;
    int *in = zeros<int>(N), *sums = zeros<int>(right ? blocks : N / THREADS);
    add_blocks<<<blocks, THREADS>>>(in, sums, N);
}

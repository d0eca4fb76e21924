/* api-no-blocks.cu — the number of blocks is rounded down, which makes 0 for few elements. */
#include "pair.h"

__global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

HOST
{
    enum { N = 100, THREADS = 256 };
    int blocks = right ? (N + THREADS - 1) / THREADS : N / THREADS;
    int *out = zeros<int>(N);
    fill<<<blocks, THREADS>>>(out, N); /* memcheck: cudaErrorInvalidValue */
}

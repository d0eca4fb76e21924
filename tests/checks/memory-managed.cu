/* memory-managed.cu — a kernel writes behind the end of managed memory. */
#include "pair.h"

__global__ void fill(int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}

HOST
{
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    fill<<<1, 32>>>(keep(out, cudaFree), right ? 64 : 65);
}

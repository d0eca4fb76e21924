/* memory-pool.cu — a kernel writes behind the end of memory from cudaMallocAsync. */
#include "pair.h"

__global__ void fill(int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}

int main(int argc, char **argv)
{
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), 0);
    fill<<<1, 32>>>(out, is_right(argc, argv) ? 64 : 65);
    cudaFreeAsync(out, 0);
    cudaDeviceSynchronize();
}

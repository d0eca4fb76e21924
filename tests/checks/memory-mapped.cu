/* memory-mapped.cu — a kernel writes behind the end of mapped memory of the host. */
#include "pair.h"

__global__ void fill(int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}

int main(int argc, char **argv)
{
    int *host, *out;
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&out, host, 0);
    fill<<<1, 32>>>(out, is_right(argc, argv) ? 64 : 65);
    cudaDeviceSynchronize();
    cudaFreeHost(host);
}

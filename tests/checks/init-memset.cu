/* init-memset.cu — cudaMemset gets the number of elements in place of the number of bytes. */
#include "pair.h"

__global__ void increment(int *counters)
{
    counters[threadIdx.x]++; /* initcheck: Uninitialized __global__ memory read of size 4 */
}

int main(int argc, char **argv)
{
    enum { N = 64 };
    int *counters;
    cudaMalloc(&counters, N * sizeof(int));
    cudaMemset(counters, 0, is_right(argc, argv) ? N * sizeof(int) : N);
    increment<<<1, N>>>(counters);
    cudaDeviceSynchronize();
    cudaFree(counters);
}

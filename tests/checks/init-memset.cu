/* init-memset.cu — cudaMemset gets the number of elements in place of the number of bytes. */
#include "pair.h"

__global__ void increment(int *counters)
{
    counters[threadIdx.x]++; /* initcheck: Uninitialized __global__ memory read of size 4 */
}

HOST
{
    enum { N = 64 };
    int *counters = unwritten<int>(N);
    cudaMemset(counters, 0, right ? N * sizeof(int) : N);
    increment<<<1, N>>>(counters);
}

/* race-streams-kernels.cu — two kernels in two streams add to the same array, one after the other
 * in the program and in no order on the GPU. Two that only read it, and atomics, need no order. */
#include "pair.h"

enum { N = 1024 };

__global__ void add(int *sums, int *total, const int *in)
{
    sums[threadIdx.x] += in[threadIdx.x]; /* racecheck: Race reported */
    atomicAdd(total, in[threadIdx.x]);
}

HOST
{
    int *sums = zeros<int>(2 * N), *total = zeros<int>(1), *in = zeros<int>(N);
    cudaStream_t streams[2];
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        add<<<1, N, 0, streams[i]>>>(right ? sums + i * N : sums, total, in);
    }
}

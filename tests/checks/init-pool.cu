/* init-pool.cu — memory from cudaMallocAsync may have been used before, and is not cleared. */
#include "pair.h"

__global__ void increment(int *counters)
{
    counters[threadIdx.x]++; /* initcheck: Uninitialized __global__ memory read of size 4 */
}

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    for (int round = 0; round < 2; round++) {
        int *counters;
        cudaMallocAsync(&counters, 64 * sizeof(int), 0);
        if (right || round == 0) cudaMemsetAsync(counters, 0, 64 * sizeof(int), 0);
        increment<<<1, 64>>>(counters);
        cudaFreeAsync(counters, 0);
    }
    cudaDeviceSynchronize();
}

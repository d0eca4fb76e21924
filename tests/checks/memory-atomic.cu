/* memory-atomic.cu — a histogram whose bins are one too few. */
#include "pair.h"

__global__ void count(const int *in, int *bins, int limit)
{
    /* memcheck: Invalid __global__ atomic */
    atomicAdd(&bins[in[threadIdx.x] + threadIdx.x % limit], 1);
}

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *in = zeros<int>(64), *bins = zeros<int>(16);
    count<<<1, 64>>>(in, bins, right ? 16 : 17);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(bins);
}

/* memory-variable.cu — an index leads beyond a __device__ array. */
#include "pair.h"

__device__ int table[64];

__global__ void look_up(int *out, int first)
{
    out[threadIdx.x] = table[first + threadIdx.x]; /* memcheck: Invalid __global__ read */
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    look_up<<<1, 64>>>(out, is_right(argc, argv) ? 0 : 1);
    cudaDeviceSynchronize();
    cudaFree(out);
}

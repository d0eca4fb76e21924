/*
 * Lets some threads of a grid print their indices. notes/first-kernel.md explains it.
 */
#include <stdio.h>

__global__ void print_indices(void)
{
    int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;

    if (lane < 2)
        printf("block %d, thread %2d: warp %d, lane %d\n", blockIdx.x, threadIdx.x, warp, lane);
}

int main(void)
{
    print_indices<<<2, 64>>>();
    return cudaDeviceSynchronize();
}

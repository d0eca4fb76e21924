/* sync-no-arrivals.cu — an mbarrier is initialised for no arrivals. */
#include "bulk.h"

__global__ void meet(int *out, int arrivals)
{
    __shared__ barrier meeting;
    if (threadIdx.x == 0)
        barrier_init(&meeting, arrivals); /* synccheck, memcheck: for 0 arrivals in barrier.cuh */
    __syncthreads();
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    meet<<<1, 64>>>(out, is_right(argc, argv) ? 64 : 0);
    cudaDeviceSynchronize();
    cudaFree(out);
}

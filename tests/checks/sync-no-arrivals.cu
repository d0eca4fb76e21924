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

PAIR(meet, 1, 64, zeros<int>(64), right ? 64 : 0)

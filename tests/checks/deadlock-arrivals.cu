/* deadlock-arrivals.cu — an mbarrier for 64 arrivals gets 63. */
#include "bulk.h"

__global__ void meet(int *out, int arrivals)
{
    __shared__ barrier meeting;
    if (threadIdx.x == 0) {
        barrier_init(&meeting, arrivals);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x > 0) barrier_arrive(&meeting);
    barrier_wait(&meeting, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 63 : 64)

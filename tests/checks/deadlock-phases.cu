/* deadlock-phases.cu — an mbarrier for 32 arrivals gets 64, so the phase that the threads wait
 * for is over twice. */
#include "bulk.h"

__global__ void meet(int *out, int arrivals)
{
    __shared__ barrier meeting;
    if (threadIdx.x == 0) {
        barrier_init(&meeting, arrivals);
        barrier_init_done();
    }
    __syncthreads();
    barrier_arrive(&meeting);
    __syncthreads();
    barrier_wait(&meeting, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 64 : 32)

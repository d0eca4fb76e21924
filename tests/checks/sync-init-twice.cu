/* sync-init-twice.cu — every thread initialises the same mbarrier. */
#include "bulk.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ barrier meeting;
    /* racecheck: WAW hazard in barrier.cuh */
    if (!right || threadIdx.x == 0) barrier_init(&meeting, 64);
    barrier_init_done();
    __syncthreads();
    barrier_arrive(&meeting);
    barrier_wait(&meeting, 0);
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

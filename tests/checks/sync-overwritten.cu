/* sync-overwritten.cu — a loop writes beyond its array, into an mbarrier. */
#include "bulk.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ struct {
        int words[64];
        barrier meeting;
    } s;
    if (threadIdx.x == 0) barrier_init(&s.meeting, 64);
    __syncthreads();
    for (int i = threadIdx.x; i < (right ? 64 : 66); i += 64) s.words[i] = -1;
    __syncthreads();
    barrier_arrive(&s.meeting); /* synccheck, memcheck: holds no mbarrier in barrier.cuh */
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

/* sync-invalidated.cu — an mbarrier is used after it was invalidated. */
#include "bulk.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ barrier meeting;
    unsigned at = (unsigned)__cvta_generic_to_shared(&meeting);
    if (threadIdx.x == 0) barrier_init(&meeting, 64);
    __syncthreads();
    if (!right && threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at));
    __syncthreads();
    barrier_arrive(&meeting); /* synccheck, memcheck: holds no mbarrier in barrier.cuh */
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

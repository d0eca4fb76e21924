/* race-inval.cu — an mbarrier may be invalidated only after its last use. */
#include "bulk.h"

static __device__ void invalidate(barrier *b)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

template <bool right> __global__ void meet(int *out)
{
    __shared__ barrier all;
    if (threadIdx.x == 0) barrier_init(&all, 64);
    __syncthreads();
    barrier_arrive(&all);
    barrier_wait(&all, 0);
    if (right) __syncthreads();
    if (threadIdx.x == 63) invalidate(&all);
    out[threadIdx.x] = threadIdx.x;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

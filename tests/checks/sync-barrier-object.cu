/* sync-barrier-object.cu — an asynchronous barrier is initialised before it is used. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (!right) barrier = 0;
    if (right && threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at));
    __syncthreads();
    /* synccheck, memcheck: holds no mbarrier */
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(at));
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

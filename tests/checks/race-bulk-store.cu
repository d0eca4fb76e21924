/* race-bulk-store.cu — a bulk copy to global memory reads its source at any time until
 * cp.async.bulk.wait_group.read has returned: threads may not store to the source before that. */
#include "bulk.h"

template <bool right> __global__ void send(int *out)
{
    __shared__ __align__(16) int words[128];
    words[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                     "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(out)),
                     "r"(shared_address(words)), "r"((unsigned)sizeof words)
                     : "memory");
        if (right) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    /* racecheck: WAR hazard at __shared__; racecheck: No wait for that copy */
    words[threadIdx.x] = 0;
    out[128 + threadIdx.x] = words[threadIdx.x];
}

PAIR(send<right>, 1, 128, zeros<int>(256))

/* race-bulk-fence.cu — a bulk copy out of shared memory need not see what threads have stored
 * there, unless each has executed a fence for asynchronous copies. */
#include "bulk.h"

template <bool right> __global__ void send(int *out)
{
    __shared__ __align__(16) int words[128];
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy.async */
    words[threadIdx.x] = threadIdx.x;
    if (right) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x > 0) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;\n\t"
                 "cp.async.bulk.wait_group 0;" ::"l"(__cvta_generic_to_global(out)),
                 "r"(shared_address(words)), "r"((unsigned)sizeof words)
                 : "memory");
}

PAIR(send<right>, 1, 128, zeros<int>(128))

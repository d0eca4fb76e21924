/* race-bulk-fence-one.cu — one thread executes the fence for asynchronous copies for all, behind
 * the barrier. */
#include "bulk.h"

template <bool right> __global__ void send(int *out)
{
    __shared__ __align__(16) int words[256];
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy */
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x > 0) return;
    if (right) proxy_fence();
    bulk_store(out, words, sizeof words);
    bulk_wait<0>();
}

PAIR(send<right>, 1, 256, zeros<int>(256))

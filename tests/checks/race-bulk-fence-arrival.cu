/* race-bulk-fence-arrival.cu — each thread executes a fence for asynchronous copies, and then
 * arrives at the barrier where one thread waits and copies. */
#include "bulk.h"

template <bool right> __global__ void send(int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 256);
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy */
    words[threadIdx.x] = threadIdx.x;
    if (right) proxy_fence();
    barrier_arrive(&full);
    if (threadIdx.x > 0) return;
    barrier_wait(&full, 0);
    bulk_store(out, words, sizeof words);
    bulk_wait<0>();
}

PAIR(send<right>, 1, 256, zeros<int>(256))

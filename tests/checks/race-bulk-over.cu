/* race-bulk-over.cu — a bulk copy overwrites words that threads have read: it may begin only behind
 * a barrier. */
#include "bulk.h"

template <bool right> __global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    words[threadIdx.x] = 0;
    make_barriers(&full, 1, 1);
    out[threadIdx.x] = words[threadIdx.x];
    if (right) __syncthreads();
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        /* racecheck: hazard at __shared__ in barrier.cuh */
        bulk_load(words, in, sizeof words, &full);
    }
    barrier_wait(&full, 0);
    out[threadIdx.x] += words[threadIdx.x];
}

PAIR(copy<right>, 1, 256, numbers<int>(256), zeros<int>(256))

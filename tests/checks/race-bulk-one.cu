/* race-bulk-one.cu — one thread waits for a bulk copy. The others must wait for that thread. */
#include "bulk.h"

template <bool right> __global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, in, sizeof words, &full);
        barrier_wait(&full, 0);
    }
    if (right) __syncthreads();
    /* racecheck: hazard at __shared__; initcheck: Uninitialized */
    out[threadIdx.x] = words[threadIdx.x];
}

PAIR(copy<right>, 1, 256, numbers<int>(256), zeros<int>(256))

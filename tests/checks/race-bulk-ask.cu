/* race-bulk-ask.cu — to test whether a copy is over, and to ignore the answer, is no wait. */
#include "bulk.h"

template <bool right> __global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, in, sizeof words, &full);
    }
    if (right)
        barrier_wait(&full, 0);
    else
        (void)barrier_test(&full, 1);
    /* racecheck: hazard at __shared__; racecheck: No wait for that; initcheck: Uninitialized */
    out[threadIdx.x] = words[255 - threadIdx.x];
    barrier_wait(&full, 0);
}

PAIR(copy<right>, 1, 256, numbers<int>(256), zeros<int>(256))

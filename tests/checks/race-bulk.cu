/* race-bulk.cu — a bulk copy to shared memory: readers must wait at the barrier of its bytes. */
#include "bulk.h"

template <bool right> __global__ void copy(int *out, const int *in)
{
    __shared__ __align__(16) int words[128];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, in, sizeof words, &full);
    }
    if (right) barrier_wait(&full, 0);
    /* racecheck: hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[threadIdx.x];
    if (!right) barrier_wait(&full, 0); // the block may not end before its copy
}

PAIR(copy<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-barrier-made.cu — one thread initialises a barrier. Another one may use it only after that:
 * a flag needs a fence. */
#include "bulk.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ barrier full;
    __shared__ volatile int made;
    made = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        if (right) __threadfence_block();
        made = 1;
        barrier_wait(&full, 0);
    } else if (threadIdx.x == 32) {
        while (!made) continue;
        /* racecheck: WAW hazard at __shared__ in barrier.cuh; strict readers: hazard */
        barrier_arrive(&full);
    }
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

/* race-arrival.cu — one lane arrives at a barrier for its warp: it must see the others' stores
 * before it arrives. No copy takes part. */
#include "bulk.h"

template <bool right> __global__ void hand_over(int *out)
{
    __shared__ int words[32];
    __shared__ barrier full;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) barrier_init(&full, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        words[lane] = lane;
        if (right) __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        barrier_wait(&full, 0);
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads() */
        out[lane] = words[lane];
    }
}

PAIR(hand_over<right>, 1, 64, zeros<int>(32))

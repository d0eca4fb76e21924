/* race-arrival-wait.cu — one warp arrives at a barrier after its stores. The other one must wait
 * there before it loads. */
#include "bulk.h"

template <bool right> __global__ void hand_over(int *out)
{
    __shared__ int words[32];
    __shared__ barrier full;
    int lane = threadIdx.x % 32;
    make_barriers(&full, 1, 1);
    if (threadIdx.x < 32) {
        words[lane] = lane;
        __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        if (right) barrier_wait(&full, 0);
        /* racecheck: hazard at __shared__; racecheck: __syncthreads(); initcheck: Uninitialized */
        out[lane] = words[lane];
    }
}

PAIR(hand_over<right>, 1, 64, zeros<int>(32))

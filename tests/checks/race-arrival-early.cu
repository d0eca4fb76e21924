/* race-arrival-early.cu — stores after an arrival are not ordered before the threads that wait for
 * it. */
#include "bulk.h"

template <bool right> __global__ void hand_over(int *data)
{
    __shared__ int word;
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        if (right) word = data[1];
        barrier_arrive(&full);
        if (!right)
            word = data[1]; /* racecheck: hazard at __shared__; racecheck: __syncthreads() */
    } else if (threadIdx.x == 32) {
        barrier_wait(&full, 0);
        data[0] = word;
    }
}

PAIR(hand_over<right>, 1, 64, numbers<int>(2))

/* race-arrival-relaxed.cu — an arrival that releases nothing is enough after a fence. */
#include "bulk.h"

template <bool right> __global__ void hand_over(int *data)
{
    __shared__ int word;
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        word = data[1];
        if (right) __threadfence_block();
        asm volatile(
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(&full))
            : "memory");
    } else if (threadIdx.x == 32) {
        barrier_wait(&full, 0);
        data[0] = word; /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads() */
    }
}

PAIR(hand_over<right>, 1, 64, numbers<int>(2))

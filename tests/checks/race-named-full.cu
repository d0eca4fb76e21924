/* race-named-full.cu — one half of a block stores, the other half loads. A barrier signals that the
 * words are stored; another one must signal that they have been read. */
#include "pair.h"

#define ARRIVE(number) asm volatile("bar.arrive %0, 256;" ::"n"(number) : "memory")
#define WAIT(number)   asm volatile("bar.sync %0, 256;" ::"n"(number) : "memory")

template <bool right> __global__ void hand_on(int *data)
{
    __shared__ int words[128];
    int i = threadIdx.x % 128;
    for (int turn = 0; turn < 3; turn++)
        if (threadIdx.x < 128) {
            if (right && turn > 0) WAIT(2);
            /* racecheck: WAR hazard at __shared__; racecheck: __syncthreads() */
            words[i] = turn + i;
            if (right)
                ARRIVE(1);
            else
                WAIT(1);
        } else {
            WAIT(1);
            data[i] += words[i ^ 32];
            if (right && turn < 2) ARRIVE(2);
        }
}

PAIR(hand_on<right>, 1, 256, numbers<int>(128))

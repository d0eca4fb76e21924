/* race-named-ring.cu — one half of a block stores, the other half loads, by two named barriers: one
 * signals that the words are stored, one that they have been read. */
#include "pair.h"

#define ARRIVE(number) asm volatile("bar.arrive %0, 128;" ::"n"(number) : "memory")
#define WAIT(number)   asm volatile("bar.sync %0, 128;" ::"n"(number) : "memory")

template <bool right> __global__ void hand_on(int *out)
{
    __shared__ int words[64];
    int i = threadIdx.x % 64;
    for (int turn = 0; turn < 4; turn++)
        if (threadIdx.x < 64) {
            if (turn > 0 && right) WAIT(2);
            words[i] = turn;
            if (turn > 0 && !right) WAIT(2);
            ARRIVE(1);
        } else {
            WAIT(1);
            out[i] += words[63 - i];
            if (turn < 3) ARRIVE(2);
        }
}

PAIR(hand_on<right>, 1, 128, zeros<int>(64))

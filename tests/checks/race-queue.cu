/* race-queue.cu — blocks put work into a queue, others take it out. A word may be read when it is
 * marked as ready. It is not enough that its index has been drawn. */
#include "pair.h"

template <bool right> __global__ void work(int *items, int *ready, int *places, int *out)
{
    if (blockIdx.x % 2 == 0) {
        int place = atomicAdd(&places[0], 1);
        items[place] = blockIdx.x;
        __threadfence();
        atomicExch(&ready[place], 1);
    } else {
        int place = atomicAdd(&places[1], 1);
        if (right)
            while (!atomicAdd(&ready[place], 0)) continue;
        else
            while (atomicAdd(&places[0], 0) <= place) continue;
        __threadfence();
        out[place] = items[place];
    }
}

PAIR(work<right>, 8, 1, zeros<int>(4), zeros<int>(4), zeros<int>(2), zeros<int>(4))

/* race-last-volatile.cu — the last block adds up the words that all have stored. The words are
 * volatile, which orders nothing: a fence must lie between a block's store and its ticket. */
#include "pair.h"

template <bool right> __global__ void add_up(volatile int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    if (right) __threadfence();
    if (atomicAdd(done, 1) != gridDim.x - 1) return;
    if (right) __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i];
    *sum = total;
}

PAIR(add_up<right>, 16, 1, zeros<int>(16), zeros<unsigned>(1), zeros<int>(1))

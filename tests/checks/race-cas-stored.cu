/* race-cas-stored.cu — a sum by compare and swap, which also returns the value before. Only
 * atomicCAS says which value that was: the plain load before the loop may have found any. */
#include "pair.h"

template <bool right> __global__ void take(int *sum, int *before)
{
    int first = *sum, old = first, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed * 2 + 1);
    } while (old != assumed);
    before[blockIdx.x] = right ? old : first;
}

PAIR(take<right>, 8, 1, zeros<int>(1), zeros<int>(8))

/* race-cas-discard.cu — a sum by compare and swap. If another block has stored in between,
 * nothing is swapped: the addition must be tried again, or it is lost. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    int old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed + 1);
    } while (right && old != assumed);
}

PAIR(add<right>, 8, 1, zeros<int>(1))

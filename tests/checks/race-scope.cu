/* race-scope.cu — an atomic with the scope of a block is atomic within its block only. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    if (right)
        atomicAdd(sum, 1);
    else
        /* racecheck: WAW hazard at __global__; racecheck: second launch */
        atomicAdd_block(sum, 1);
}

PAIR(add<right>, 8, 32, zeros<int>(1))

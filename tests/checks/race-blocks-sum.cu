/* race-blocks-sum.cu — blocks add to one word of global memory: only atomics do that. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    if (threadIdx.x > 0) return;
    if (right)
        atomicAdd(sum, 1);
    else
        /* racecheck: WAW hazard at __global__ */
        *sum += 1;
}

PAIR(add<right>, 64, 32, zeros<int>(1))

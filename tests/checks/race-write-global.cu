/* race-write-global.cu — all lanes of a warp store to one word by one instruction. */
#include "pair.h"

template <bool right> __global__ void last(int *out)
{
    /* racecheck: WAW hazard at __global__; racecheck: chance */
    if (!right || threadIdx.x == 31) *out = threadIdx.x;
}

PAIR(last<right>, 1, 32, zeros<int>(1))

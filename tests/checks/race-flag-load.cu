/* race-flag-load.cu — a flag that an atomic sets is read by an atomic, too, and not by a plain
 * load. */
#include "pair.h"

template <bool right> __global__ void look(int *data, int *flag)
{
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0)
        atomicExch(flag, 1);
    else if (right)
        data[blockIdx.x] = atomicAdd(flag, 0);
    else
        /* racecheck: RAW hazard at __global__; racecheck: second launch */
        data[blockIdx.x] = *flag;
}

PAIR(look<right>, 4, 32, numbers<int>(4), zeros<int>(1))

/* race-sum-read.cu — threads add to a sum by atomics. A plain load of the sum meanwhile is a
 * hazard; what the atomic returns is not. */
#include "pair.h"

template <bool right> __global__ void add(int *sum, int *out)
{
    int before = atomicAdd(sum, 1);
    out[threadIdx.x] = right ? before : *sum; /* racecheck: RAW hazard at __global__ */
}

PAIR(add<right>, 1, 256, zeros<int>(1), zeros<int>(256))

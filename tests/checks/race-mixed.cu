/* race-mixed.cu — some blocks add atomically, others do not. An atomic is atomic among atomics
 * only. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    if (right || blockIdx.x % 2 == 0)
        atomicAdd(sum, 1);
    else
        *sum += 1;
}

PAIR(add<right>, 8, 1, zeros<int>(1))

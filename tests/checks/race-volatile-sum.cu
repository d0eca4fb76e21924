/* race-volatile-sum.cu — volatile makes every load and every store happen. It does not make the two
 * an atomic addition. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    volatile int *seen = sum;
    if (right)
        atomicAdd(sum, 1);
    else
        *seen = *seen + 1;
}

PAIR(add<right>, 8, 1, zeros<int>(1))

/* race-sum-checked.cu — an element is added to a sum, whose sign is tested before. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    volatile int *seen = sum;
    int before = *seen;
    if (*seen < 0) asm volatile("trap;");
    for (int lane = 0; lane < 32; lane++)
        if (lane == threadIdx.x && right)
            atomicAdd(sum, lane + 1);
        else if (lane == threadIdx.x)
            *seen = before + lane + 1; /* racecheck: has read it, and writes it */
}

PAIR(add<right>, 1, 32, zeros<int>(1))

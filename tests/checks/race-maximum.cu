/* race-maximum.cu — a maximum. The stored value is not made from the loaded one, but that decides
 * whether to store. */
#include "pair.h"

template <bool right> __global__ void maximum(int *largest)
{
    int before = *(volatile int *)largest;
    for (int lane = 0; lane < 32; lane++)
        if (lane == threadIdx.x && right)
            atomicMax(largest, lane + 1);
        else if (lane == threadIdx.x && before <= lane)
            *(volatile int *)largest = lane + 1; /* racecheck: has read it, and writes it */
}

PAIR(maximum<right>, 1, 32, zeros<int>(1))

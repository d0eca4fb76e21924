/* memory-atomic-aligned.cu — a counter of 8 bytes begins at an address that is not a multiple
 * of 8. */
#include "pair.h"

template <bool right> __global__ void count(char *counters)
{
    unsigned long long *wide = (unsigned long long *)(counters + (right ? 8 : 4));
    atomicAdd((int *)counters, 1);
    atomicAdd(wide, 1ull); /* memcheck: Invalid __global__ atomic of size 8 bytes */
}

PAIR(count<right>, 1, 32, zeros<char>(16))

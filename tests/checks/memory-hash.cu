/* memory-hash.cu — a product overflows an int, and its remainder is a negative index. */
#include "pair.h"

template <bool right> __global__ void scatter(int *table, int size)
{
    int key = threadIdx.x * 40503;
    int place = right ? (int)((unsigned)key * 40503u % size) : key * 40503 % size;
    table[place] = 1; /* memcheck: Invalid __global__ write of size 4 bytes */
}

PAIR(scatter<right>, 1, 4, zeros<int>(101), 101)

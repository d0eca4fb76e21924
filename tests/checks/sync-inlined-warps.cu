/* sync-inlined-warps.cu — warps call a function with a barrier, in two arms. */
#include "one_line.cuh"

__global__ void meet(int *out, int size)
{
    exchange_in_arms(out, size); /* synccheck: Barrier error in one_line.cuh */
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 64 : 32)

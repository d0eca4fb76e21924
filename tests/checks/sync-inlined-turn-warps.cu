/* sync-inlined-turn-warps.cu — one warp calls a function with a barrier before the other does. */
#include "one_line.cuh"

__global__ void meet(int *out, int size)
{
    exchange_in_turn(out, size); /* synccheck: Barrier error in one_line.cuh */
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 64 : 32)

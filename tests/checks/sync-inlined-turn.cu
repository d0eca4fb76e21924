/* sync-inlined-turn.cu — odd threads call a function with a barrier before even ones do. */
#include "one_line.cuh"

__global__ void meet(int *out, int size)
{
    exchange_in_turn(out, size); /* synccheck: Barrier error in one_line.cuh */
}

PAIR(meet, 1, 32, zeros<int>(64), right ? 64 : 1)

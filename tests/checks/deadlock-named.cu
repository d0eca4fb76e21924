/* deadlock-named.cu — a named barrier for 96 threads gets 64. */
#include "pair.h"

__global__ void meet(int *out, int threads)
{
    /* synccheck, memcheck: 64 of 96 */
    if (threadIdx.x < 64) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 96, zeros<int>(96), right ? 64 : 96)

/* sync-count.cu — a named barrier takes a number of threads that is whole warps. */
#include "pair.h"

__global__ void meet(int *out, int threads)
{
    /* synccheck, memcheck: barrier 1 waits for 48 threads */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 64 : 48)

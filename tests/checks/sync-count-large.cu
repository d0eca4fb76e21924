/* sync-count-large.cu — a named barrier waits for more threads than the block has. */
#include "pair.h"

__global__ void meet(int *out, int threads)
{
    /* synccheck: barrier 1 waits for 64 threads, and the block has 32 */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 32, zeros<int>(32), right ? 32 : 64)

/* sync-number.cu — a block has the barriers 0 to 15, but not 16. */
#include "pair.h"

__global__ void meet(int *out, int barrier)
{
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); /* synccheck, memcheck: 16 */
    out[threadIdx.x] = 1;
}

PAIR(meet, 1, 64, zeros<int>(64), right ? 15 : 16)

/* sync-counts-fewer.cu — two warps give different numbers of threads for the same barrier: one of
 * them only its own. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    int threads = right || threadIdx.x < 32 ? 64 : 32;
    /* synccheck, memcheck: 32 threads here and 64 elsewhere */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

PAIR(meet<right>, 1, 64, zeros<int>(64))

/* sync-masks-full.cu — half of a warp names all lanes for a shuffle, the other half only itself. */
#include "pair.h"

template <bool right> __global__ void take(int *out)
{
    unsigned mask = right || threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
    out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 20); /* synccheck: Member mask */
}

PAIR(take<right>, 1, 32, zeros<int>(32))

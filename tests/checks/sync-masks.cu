/* sync-masks.cu — lanes of one shuffle name different masks. */
#include "pair.h"

template <bool right> __global__ void add_up(int *out)
{
    unsigned halves = threadIdx.x < 16 ? 0x0000ffff : 0xffff8000;
    unsigned mask = right ? 0xffffffff : halves;
    int sum = threadIdx.x;
    for (int d = 8; d > 0; d /= 2)
        sum += __shfl_xor_sync(mask, sum, d); /* synccheck: Member mask */
    out[threadIdx.x] = sum;
}

PAIR(add_up<right>, 1, 32, zeros<int>(32))

/* sync-reduce.cu — a lane takes part in a reduction whose mask does not name it. */
#include "pair.h"

template <bool right> __global__ void add_up(int *out)
{
    if (threadIdx.x <= 16) {
        unsigned mask = right ? 0x1ffff : 0xffff;
        out[threadIdx.x] = __reduce_add_sync(mask, 1); /* synccheck: Invalid arguments */
    }
}

PAIR(add_up<right>, 1, 32, zeros<int>(32))

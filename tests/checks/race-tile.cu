/* race-tile.cu — a cooperative group's sync orders that group only: a tile of 32, not the block. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    words[threadIdx.x] = threadIdx.x;
    if (right)
        block.sync();
    else
        tile.sync();
    out[threadIdx.x] = words[127 - threadIdx.x];
}

PAIR(reverse<right>, 1, 128, zeros<int>(128))

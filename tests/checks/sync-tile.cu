/* sync-tile.cu — 15 of 16 lanes take part in a shuffle of their tile. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void add_up(const int *in, int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int lanes = right ? 16 : 15, value = in[threadIdx.x];
    if (tile.thread_rank() < lanes)
        for (int d = 8; d > 0; d /= 2) value += tile.shfl_down(value, d); /* synccheck: exited */
    if (threadIdx.x < lanes) out[threadIdx.x] = value;
}

PAIR(add_up<right>, 1, 32, zeros<int>(32), zeros<int>(32))

/* race-tile-wide.cu — a tile of 64 threads, two warps, meets at a barrier in shared memory, and its
 * threads find their sum there. The sync orders that tile, and not the block. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void sum(int *out)
{
    __shared__ cg::block_tile_memory<128> memory;
    __shared__ int words[128];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    words[threadIdx.x] = threadIdx.x;
    tile.sync();
    int other = words[threadIdx.x ^ (right ? 63 : 127)];
    out[threadIdx.x] = cg::reduce(tile, other, cg::plus<int>()) + tile.shfl(other, 40);
}

PAIR(sum<right>, 1, 128, zeros<int>(128))

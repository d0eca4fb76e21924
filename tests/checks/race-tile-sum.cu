/* race-tile-sum.cu — tiles of 8 lanes have barriers of their own, which are enough for a sum within
 * a tile. They do not order accesses to the words of the next tile. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void sum(int *data)
{
    __shared__ int words[256];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    words[threadIdx.x] = data[threadIdx.x];
    tile.sync();
    for (int step = right ? 4 : 0; step > 0; step /= 2) {
        int word = tile.thread_rank() < step ? words[threadIdx.x + step] : 0;
        tile.sync();
        words[threadIdx.x] += word;
        tile.sync();
    }
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp() */
    data[threadIdx.x] = words[right ? threadIdx.x : threadIdx.x ^ 8];
}

PAIR(sum<right>, 1, 256, numbers<int>(256))

/* race-grid.cu — a cooperative grid: block.sync() orders a block, grid.sync() all of them. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void exchange(int *words, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    words[own] = own;
    if (right)
        cg::this_grid().sync();
    else
        cg::this_thread_block().sync();
    out[own] = words[all - 1 - own];
}

COOPERATIVE(exchange<right>, 4, 64, zeros<int>(4 * 64), zeros<int>(4 * 64))

/* race-grid-once.cu — a cooperative grid in a loop. It needs a grid.sync() behind the stores,
 * and one behind the loads, before the words are stored to again. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void rotate(int *words)
{
    auto grid = cg::this_grid();
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int turn = 0; turn < 3; turn++) {
        int next = words[(own + blockDim.x) % all];
        if (right) grid.sync();
        words[own] = next + 1;
        grid.sync();
    }
}

COOPERATIVE(rotate<right>, 4, 64, numbers<int>(4 * 64))

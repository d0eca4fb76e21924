/* deadlock-grid.cu — a block without work returns before the barrier of the grid. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void exchange(int *words, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!right && i >= n) return;
    if (i < n) words[i] = i;
    cg::this_grid().sync(); /* memcheck: wait; synccheck: wait */
    if (i < n) out[i] = words[n - 1 - i];
}

COOPERATIVE(exchange<right>, 4, 32, zeros<int>(3 * 32), zeros<int>(3 * 32), 3 * 32)

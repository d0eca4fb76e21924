/*
 * cg_debug_code.cu — cooperative groups with their own checks, which the lecture calls _CG_DEBUG.
 */
#define _CG_DEBUG
#include "cooperative_code.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* With the checks, this_grid() is a grid.sync() by itself. */
static __global__ void this_grid_only() { cg::this_grid(); }

cudaError_t launch_checked_this_grid(int blocks, int is_cooperative)
{
    if (is_cooperative)
        return cudaLaunchCooperativeKernel(this_grid_only, blocks, 32, (void **)NULL);
    this_grid_only<<<blocks, 32>>>();
    return cudaGetLastError();
}

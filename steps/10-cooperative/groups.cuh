/*
 * groups.cuh — scans and sums over a warp and over a block, each called by all threads of its
 * group.
 */
#ifndef STEP10_GROUPS_CUH
#define STEP10_GROUPS_CUH

#include "scan.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

typedef cg::thread_block_tile<WARP> warp_tile;

/* The sum of x over the lanes up to and including this one. */
static __device__ float warp_scan(const warp_tile &warp, float x)
{
#pragma unroll
    for (unsigned d = 1; d < WARP; d *= 2) {
        float y = warp.shfl_up(x, d);
        if (warp.thread_rank() >= d) x += y;
    }
    return x;
}

/* The exclusive scan, made of the inclusive one: the value of the lane before, and 0 in lane 0. */
static __device__ float exclusive(const warp_tile &warp, float x)
{
    float before = warp.shfl_up(x, 1);
    return warp.thread_rank() == 0 ? 0 : before;
}

/* The sum of x over the warp, in all of its lanes. */
static __device__ float warp_sum(const warp_tile &warp, float x)
{
#pragma unroll
    for (unsigned d = WARP / 2; d > 0; d /= 2) x += warp.shfl_xor(x, d);
    return x;
}

/* The sum of x over the block, in all of its threads. */
static __device__ float block_sum(const cg::thread_block &block, const warp_tile &warp, float x,
                                  float *totals)
{
    x = warp_sum(warp, x);
    if (warp.thread_rank() == 0) totals[warp.meta_group_rank()] = x;

    // Every warp reads the totals of all warps, so all of them must have been written.
    block.sync();

    x = warp_sum(warp, warp.thread_rank() < THREADS / WARP ? totals[warp.thread_rank()] : 0);

    // The caller may overwrite the totals, so all warps must have read them.
    block.sync();
    return x;
}

#endif

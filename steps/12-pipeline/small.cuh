/*
 * small.cuh — the kernel for small n: one cluster of blocks, which tell each other their sums
 * through shared memory. No ticket, no state, nothing in device memory but input and output.
 */
#ifndef STEP12_SMALL_CUH
#define STEP12_SMALL_CUH

#include "memory.cuh"
#include "segment.cuh"

#include <cooperative_groups.h>

/* Only compilers for Hopper know clusters; for the host the kernel's code says how large they are. */
#if __CUDA_ARCH__ >= 900
#define ONE_CLUSTER __cluster_dims__(SMALL_BLOCKS, 1, 1)
#else
#define ONE_CLUSTER
#endif

/*
 * Scans n elements, at most SMALL_MAX, with a grid of one cluster. Each warp takes one segment of
 * SMALL_ROWS rows, so a block needs as many warps as a SMALL_BLOCKS-th of the segments.
 */
template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(SMALL_SEGMENTS *LANES) ONE_CLUSTER
    scan_small(Sum *out, const In *in, size_t n)
{
#if __CUDA_ARCH__ >= 900
    __shared__ Sum sums[SMALL_SEGMENTS]; // of this block's segments
    __shared__ Sum blocks[SMALL_BLOCKS]; // of the cluster's blocks: every block has all
    auto cluster = cooperative_groups::this_cluster();
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES, segments = blockDim.x / LANES;
    size_t begin = ((size_t)blockIdx.x * segments + segment) * SMALL_ROWS * ROW(sizeof(Sum));
    vector_of<In, Sum> x[SMALL_ROWS];
    vector_of<Sum, Sum> y[SMALL_ROWS];

    // No block may write into another's shared memory before that one runs. It says so now, and
    // the others wait for it below: the fetch lies in between.
    cluster.barrier_arrive();

    // Fetch, and add up the segments, then the block.
    fetch_segment<ALIGNED>(x, in, begin, n);
    Sum sum = segment_sum<Sum>(x);
    if (lane == 0) sums[segment] = sum;
    __syncthreads(); // no warp may read the segments' sums before all are there
    Sum all = warp_scan<SMALL_SEGMENTS>(lane < segments ? sums[lane] : (Sum)0);
    Sum before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);
    Sum total = __shfl_sync(ALL_LANES, all, segments - 1);

    // Tell the block's sum to all blocks, one lane each; scan while it is on its way.
    cluster.barrier_wait();
    if (segment == 0 && lane < SMALL_BLOCKS)
        *cluster.map_shared_rank(&blocks[blockIdx.x], lane) = total;
    cluster.barrier_arrive();
    segment_scan<INCLUSIVE>(x, y);
    cluster.barrier_wait(); // no block may read the blocks' sums before all are there

    typename carry_of<Sum>::type before_block[SMALL_BLOCKS];
#pragma unroll
    for (int b = 0; b < SMALL_BLOCKS; b++) before_block[b] = b < blockIdx.x ? blocks[b] : 0;
    auto prefix = tree_sum(before_block);
    store_segment<ALIGNED>(out, begin, n, (Sum)(prefix + before), y);
#endif
}

#endif

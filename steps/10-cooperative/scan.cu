/*
 * Step 10: cooperative groups, and one launch.
 *
 * What it is: the groups that the lecture teaches: a block, its warps as tiles of 32 threads, the
 * whole grid; and a grid whose blocks can wait for each other, because all of them run at once. It
 * is the old reduce-then-scan: every block sums up a range of tiles, the sums become what comes
 * before each range, and every block scans its range.
 * Same as step 9 except: shuffles and barriers are members of groups; a grid as large as the GPU
 * holds at a time, whose blocks scan many tiles each; grid.sync() in place of the end of a launch,
 * and so cudaLaunchCooperativeKernel in place of <<< >>>, which cannot ask for such a grid.
 * What it fixes: the levels. One launch for any n, and 3n words (read, read, written) in place of
 * 4n.
 * What is still bad: everything is read twice (step 11). All blocks wait for the slowest at
 * grid.sync(), and the grid waits until the whole GPU is free.
 * How to run it: make step10 && ./step10 --variant forward
 */
#include "common/harness/step.h"
#include "scan.h"
#include "float4.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

typedef cg::thread_block_tile<WARP> warp_tile;

/* The sum of x over the lanes up to and with this one. */
static __device__ float warp_scan(const warp_tile &warp, float x)
{
#pragma unroll
    for (unsigned d = 1; d < WARP; d *= 2) {
        float y = warp.shfl_up(x, d);
        if (warp.thread_rank() >= d) x += y;
    }
    return x;
}

/* From the inclusive scan the exclusive one: what the lane before has, and 0 for the first. */
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

    // All warps read what all have written: none may start before.
    block.sync();

    x = warp_sum(warp, warp.thread_rank() < THREADS / WARP ? totals[warp.thread_rank()] : 0);

    // The totals will be written again: not before all have read these.
    block.sync();
    return x;
}

/*
 * The block scans the tile of B elements that begins at `begin`, exclusively; `carry` is the sum of
 * all before it. Returns the carry of the next tile, to the first warp only. Beyond n the elements
 * count as 0.
 */
static __device__ float scan_tile(float *g_odata, const float *g_idata, size_t begin, size_t n,
                                  float carry, const cg::thread_block &block, const warp_tile &warp,
                                  float *totals)
{
    unsigned lane = warp.thread_rank(), number = warp.meta_group_rank();

    // Load two float4 a thread, one from each half.
    size_t ai = begin + 4 * block.thread_rank();
    size_t bi = ai + B / 2;
    float4 a = load4(g_idata, ai, n);
    float4 b = load4(g_idata, bi, n);

    // Scan each in registers, inclusively: its last element becomes its total.
    a.y += a.x, a.z += a.y, a.w += a.z;
    b.y += b.x, b.z += b.y, b.w += b.z;

    // Scan the totals within the warp; the last lane's is the warp's.
    float scannedA = warp_scan(warp, a.w);
    float scannedB = warp_scan(warp, b.w);
    if (lane == WARP - 1) {
        totals[number] = scannedA;
        totals[number + TOTALS / 2] = scannedB;
    }

    // The first warp reads what all have written: it may not start before.
    block.sync();

    // It scans the warps' totals, and adds the carry. Its last lanes have none, but shuffle with
    // the others.
    if (number == 0) {
        float scanned = warp_scan(warp, lane < TOTALS ? totals[lane] : 0);
        float before = exclusive(warp, scanned);
        if (lane < TOTALS) totals[lane] = carry + before;
        carry += warp.shfl(scanned, TOTALS - 1);
    }

    // All warps read what the first has written: none may start before.
    block.sync();

    // Write the result: each float4 gets all that lies before it, in other warps and in its own.
    float beforeA = totals[number] + exclusive(warp, scannedA);
    float beforeB = totals[number + TOTALS / 2] + exclusive(warp, scannedB);
    a = make_float4(beforeA, beforeA + a.x, beforeA + a.y, beforeA + a.z);
    b = make_float4(beforeB, beforeB + b.x, beforeB + b.y, beforeB + b.z);
    store4(g_odata, ai, n, a);
    store4(g_odata, bi, n, b);

    // A warp writes its totals of the next tile where it has read these, and nobody else has: so
    // its own lanes are the only ones to wait for.
    warp.sync();
    return carry;
}

/*
 * Scans the n elements of g_idata into g_odata, exclusively. A cooperative grid of any number of
 * blocks, THREADS threads each; g_sums has room for a float of every block. g_odata may be g_idata.
 */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    scan_grid(float *g_odata, const float *g_idata, float *g_sums, size_t n, bool backward)
{
    // The warps' totals: those of all a, then those of all b.
    __shared__ float totals[TOTALS];

    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    warp_tile warp = cg::tiled_partition<WARP>(block);

    // This block's range, [first, last): the same number of tiles for all blocks, or one more.
    size_t tiles = (n + B - 1) / B, blocks = gridDim.x, j = blockIdx.x;
    size_t first = tiles / blocks * j + min(tiles % blocks, j);
    size_t last = tiles / blocks * (j + 1) + min(tiles % blocks, j + 1);

    // Sum up the range, but for the last block's, which nobody asks for.
    if (j + 1 < blocks) {
        float sum = 0;
        for (size_t i = 0; i < last - first; i++) {
            size_t tile = backward ? last - 1 - i : first + i;
            float4 a = load4(g_idata, tile * B + 4 * block.thread_rank(), n);
            float4 b = load4(g_idata, tile * B + 4 * block.thread_rank() + B / 2, n);
            sum += ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w));
        }
        sum = block_sum(block, warp, sum, totals);
        if (block.thread_rank() == 0) g_sums[j] = sum;
    }

    // Every block reads the sums of those before: none may start before all are written. And in
    // place, no block may overwrite elements that are still to be summed up: those of its own range
    // only, so a block.sync() would do for that.
    grid.sync();

    // All that comes before this range.
    float carry = 0;
    for (size_t i = block.thread_rank(); i < j; i += THREADS) carry += g_sums[i];
    carry = block_sum(block, warp, carry, totals);

    for (size_t tile = first; tile < last; tile++)
        carry = scan_tile(g_odata, g_idata, tile * B, n, carry, block, warp, totals);
}

/* As many blocks as the current device holds at a time. */
static cudaError_t resident_blocks(int *blocks)
{
    int device, cooperative, multiprocessors, each;

    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, scan_grid, THREADS, 0);
    if (error != cudaSuccess) return error;
    *blocks = each * multiprocessors;
    return cooperative ? cudaSuccess : cudaErrorNotSupported;
}

/* The smallest of the device's room, the workspace's, and the number of tiles. */
static cudaError_t blocks_of(size_t n, unsigned *blocks)
{
    int most = 0;
    cudaError_t error = resident_blocks(&most);
    if (most > MOST_BLOCKS) most = MOST_BLOCKS;
    *blocks = tiles_of(n) < (size_t)most ? tiles_of(n) : most;
    return error;
}

unsigned step10_blocks(size_t n)
{
    unsigned blocks;
    return blocks_of(n, &blocks) == cudaSuccess ? blocks : 0;
}

extern "C" scan_fn step10_scan;

cudaError_t step10_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;

    bool backward = variant == BACKWARD;
    unsigned blocks;
    cudaError_t error = blocks_of(n, &blocks);
    if (error != cudaSuccess) return error;

    // A pointer to each of the kernel's parameters, which no compiler compares with them.
    void *arguments[] = {&out, &in, &workspace, &n, &backward};
    return cudaLaunchCooperativeKernel(scan_grid, blocks, THREADS, arguments, 0, stream);
}

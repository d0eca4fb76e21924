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
 * How to run it: make step10 && ./step10 --variant forward; its tests: make test-step10
 *
 * This file has the grid: its kernel and its launch. groups.cuh has the scans and sums of groups,
 * tile.cuh the scan of a tile.
 */
#include "common/step/step.h"
#include "scan.h"
#include "common/step/float4.cuh"
#include "groups.cuh"
#include "tile.cuh"

/*
 * Scans the n elements of g_idata into g_odata, exclusively. A cooperative grid of any number of
 * blocks, THREADS threads each; g_sums has room for a float of every block. g_odata may be g_idata.
 */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    scan_grid(float *g_odata, const float *g_idata, float *g_sums, size_t n, bool backward)
{
    // The warps' totals: first those of all float4 a, then those of all float4 b (tile.cuh).
    __shared__ float totals[TOTALS];

    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    warp_tile warp = cg::tiled_partition<WARP>(block);

    // This block's range, [first, last): the same number of tiles for all blocks, or one more.
    size_t tiles = (n + B - 1) / B, blocks = gridDim.x, j = blockIdx.x;
    size_t first = tiles / blocks * j + min(tiles % blocks, j);
    size_t last = tiles / blocks * (j + 1) + min(tiles % blocks, j + 1);

    // Sum up the range. The last block's sum is not needed.
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

    // Every block reads the sums of the blocks before it, so these must have been written. In
    // place, a block must also not overwrite elements that are still to be summed up. These are in
    // its own range only, so for them alone a block.sync() would do.
    grid.sync();

    // The sum of all elements before this range.
    float carry = 0;
    for (size_t i = block.thread_rank(); i < j; i += THREADS) carry += g_sums[i];
    carry = block_sum(block, warp, carry, totals);

    for (size_t tile = first; tile < last; tile++)
        carry = scan_tile(g_odata, g_idata, tile * B, n, carry, block, warp, totals);
}

/* The number of blocks that the current device holds at a time. */
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

/* The number of blocks of a scan: as many as the device holds at a time and as the workspace has
 * room for, but no more than there are tiles. */
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

    // A pointer to each argument of the kernel. No compiler checks their types.
    void *arguments[] = {&out, &in, &workspace, &n, &backward};
    return cudaLaunchCooperativeKernel(scan_grid, blocks, THREADS, arguments, 0, stream);
}

/* A sum for every block, for as many blocks as any device may run. */
extern "C" size_t step10_workspace(size_t n, int variant)
{
    (void)variant;
    return (tiles_of(n) < MOST_BLOCKS ? tiles_of(n) : MOST_BLOCKS) * sizeof(float);
}

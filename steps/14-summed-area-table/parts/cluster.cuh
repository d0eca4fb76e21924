/*
 * cluster.cuh — a small grey picture in one launch.
 *
 * A cluster of blocks takes a strip of 128 columns, and each block a band of its rows, which stays
 * in shared memory. A warp scans one row at a time: it adds up what lies left of the strip, and
 * scans the strip's part. Then one thread for each column adds up its column of the band. The
 * blocks of a cluster can read each other's shared memory, so what lies above a band needs no
 * second launch. Hopper and later.
 */
#ifndef STEP14_CLUSTER_CUH
#define STEP14_CLUSTER_CUH

#include "write_table.cuh"

#include <cooperative_groups.h>

#define BANDS        8  // blocks of a cluster: the most that every GPU with clusters takes
#define BAND_ROWS    64 // at most
#define BAND_COLUMNS (LANES * QUAD)
#define CLUSTER_SIDE (BANDS * BAND_ROWS) // of a picture; larger ones take three launches

/* The sum of a lane's samples of a row left of the strip that begins at `strip`. */
template <bool ALIGNED, typename Pixel>
static __device__ typename quad<Pixel>::sum sum_left(const Pixel *row, int strip, int width)
{
    typename quad<Pixel>::sum sum = 0;
#pragma unroll
    for (int s = 0; s < CLUSTER_SIDE - BAND_COLUMNS; s += BAND_COLUMNS) {
        if (s >= strip) break;
        auto v = load_quad<ALIGNED>(row, s + threadIdx.x % LANES * QUAD, width);
        sum += quad<Pixel>::sample(v, 0) + quad<Pixel>::sample(v, 1) +
               (quad<Pixel>::sample(v, 2) + quad<Pixel>::sample(v, 3));
    }
    return sum;
}

/* Needs a cluster of BANDS blocks for each strip; block b of it has `band` rows from b * band on.
 * At least BAND_COLUMNS threads. */
template <bool ALIGNED, typename Pixel>
static __global__ void __launch_bounds__(1024, 1)
    table_of_clusters(typename quad<Pixel>::sum *table, const Pixel *pixels, int width, int height,
                      int band)
{
#if __CUDA_ARCH__ >= 900
    typedef typename quad<Pixel>::sum Sum;
    typedef typename four<Sum>::access quad_of_sums;
    __shared__ quad_of_sums scanned[BAND_ROWS][LANES];
    __shared__ Sum sums[BAND_COLUMNS];
    __shared__ quad_of_sums above[LANES];
    auto cluster = cooperative_groups::this_cluster();
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    int mine = (int)cluster.block_rank(), first = mine * band, rows = min(band, height - first);
    int strip = (int)(blockIdx.x / BANDS) * BAND_COLUMNS;

    // Scan the rows.
    for (int r = warp; r < rows; r += warps) {
        const Pixel *row = pixels + (size_t)(first + r) * width;
        auto v = load_quad<ALIGNED>(row, strip + lane * QUAD, width);
        Sum left = warp_sum(sum_left<ALIGNED>(row, strip, width)), sum[QUAD], before;
        sum[0] = quad<Pixel>::sample(v, 0);
#pragma unroll
        for (int k = 1; k < QUAD; k++) sum[k] = sum[k - 1] + quad<Pixel>::sample(v, k);
        scan_lanes(sum[QUAD - 1], lane, &before);
#pragma unroll
        for (int k = 0; k < QUAD; k++) sum[k] += left + before;
        scanned[r][lane] = four_of(sum);
    }
    __syncthreads(); // no thread may add up a column before all rows are there

    // Add up the columns.
    int x = threadIdx.x;
    if (x < BAND_COLUMNS) {
        Sum *column = (Sum *)scanned + x, sum = 0;
#pragma unroll 8
        for (int r = 0; r < rows; r++) column[r * BAND_COLUMNS] = sum += column[r * BAND_COLUMNS];
        sums[x] = sum;
    }
    cluster.sync(); // no block may read the sums of another one before they are there

    // Add up the bands above.
    if (x < BAND_COLUMNS) {
        Sum sum = 0;
#pragma unroll
        for (int b = 0; b < BANDS - 1; b++)
            if (b < mine) sum += cluster.map_shared_rank(sums, b)[x];
        ((Sum *)above)[x] = sum;
    }
    cluster.barrier_arrive(); // this thread has read the others' sums
    __syncthreads();          // no thread may store an entry before what is above it is there

    // Store the table.
    for (int r = warp; r < rows; r += warps) {
        quad_of_sums a = scanned[r][lane], b = above[lane];
        Sum entry[QUAD] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
        store_quad<ALIGNED>(table + (size_t)(first + r) * width, strip + lane * QUAD, width, entry);
    }
    cluster.barrier_wait(); // no block may end while another one reads its sums
#else
    __trap(); // launched for Hopper's code only
#endif
}

template <bool ALIGNED, typename Pixel, typename Sum>
static cudaError_t launch_clusters(Sum *table, const Pixel *pixels, size_t width, size_t height,
                                   cudaStream_t stream)
{
    int band = (int)(height + BANDS - 1) / BANDS, strips = (int)(width - 1) / BAND_COLUMNS + 1;
    int warps = band < 4 ? 4 : band < 32 ? band : 32; // a row each; threads for all columns
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {BANDS, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = BANDS * strips;
    config.blockDim = warps * LANES;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, table_of_clusters<ALIGNED, Pixel>, table, pixels, (int)width,
                              (int)height, band);
}

#endif

/*
 * tile.cuh — the scan of one tile by a block, as in step 9.
 */
#ifndef STEP10_TILE_CUH
#define STEP10_TILE_CUH

#include "common/step/float4.cuh"
#include "groups.cuh"

/*
 * The block scans the tile of B elements that begins at `begin`, exclusively. `carry` is the sum of
 * all elements before the tile. Returns the carry of the next tile, to the first warp only.
 * Elements at n and beyond count as 0. `totals` is shared memory for TOTALS floats.
 */
static __device__ float scan_tile(float *g_odata, const float *g_idata, size_t begin, size_t n,
                                  float carry, const cg::thread_block &block, const warp_tile &warp,
                                  float *totals)
{
    unsigned lane = warp.thread_rank(), number = warp.meta_group_rank();

    // Load two float4 per thread, one from each half of the tile.
    size_t ai = begin + 4 * block.thread_rank();
    size_t bi = ai + B / 2;
    float4 a = load4(g_idata, ai, n);
    float4 b = load4(g_idata, bi, n);

    // Scan each in registers, inclusively: its last element becomes its total.
    a.y += a.x, a.z += a.y, a.w += a.z;
    b.y += b.x, b.z += b.y, b.w += b.z;

    // Scan these totals within the warp. The last lane then has the total of the warp.
    float scannedA = warp_scan(warp, a.w);
    float scannedB = warp_scan(warp, b.w);
    if (lane == WARP - 1) {
        totals[number] = scannedA;
        totals[number + TOTALS / 2] = scannedB;
    }

    // The first warp reads the totals of all warps, so all of them must have been written.
    block.sync();

    // The first warp scans the totals and adds the carry. Lanes without a total take part in the
    // shuffles, which need the whole warp.
    if (number == 0) {
        float scanned = warp_scan(warp, lane < TOTALS ? totals[lane] : 0);
        float before = exclusive(warp, scanned);
        if (lane < TOTALS) totals[lane] = carry + before;
        carry += warp.shfl(scanned, TOTALS - 1);
    }

    // All warps read what the first warp has written, so it must have been written.
    block.sync();

    // Write the result. To each float4 is added the sum of all before it, in other warps and in
    // its own.
    float beforeA = totals[number] + exclusive(warp, scannedA);
    float beforeB = totals[number + TOTALS / 2] + exclusive(warp, scannedB);
    a = make_float4(beforeA, beforeA + a.x, beforeA + a.y, beforeA + a.z);
    b = make_float4(beforeB, beforeB + b.x, beforeB + b.y, beforeB + b.z);
    store4(g_odata, ai, n, a);
    store4(g_odata, bi, n, b);

    // For the next tile, each warp overwrites the two totals that it has just read. No other warp
    // reads them here, so a warp waits only for its own lanes.
    warp.sync();
    return carry;
}

#endif

/*
 * Step 11: the whole scan in a single pass.
 *
 * What it is: a chained scan with decoupled look-back (Merrill and Garland, 2016). A block scans
 * its tile, tells all others the tile's sum, finds out from theirs what lies before it, adds that
 * and writes: every element is read once and written once.
 * Same as step 9 except: no uniform_add and no recursion. A block takes its tile by a ticket, and
 * between scan and store stands look_back(). The float4 of a thread are an array, so that a
 * variant says how many they are.
 * What it fixes: 2n words move in place of 4n, in one launch (and the clearing of the states).
 * What is still bad: a tile's sum is ready soon, but what lies before it comes tile by tile; blocks
 * wait with their tiles in registers. How far a tile looks back is chance, and with it the order of
 * the additions: floats differ from run to run in their last bits (step 12).
 * How to run it: make step11 && ./step11; its tests: make test-step11
 */
#include "common/step/step.h"
#include "scan.h"
#include "common/step/float4.cuh"
#include "look_back.cuh"

/* The sum of x over the lanes up to and including this one. All lanes of the warp take part. */
static __device__ float warp_scan(float x)
{
#pragma unroll
    for (int d = 1; d < WARP; d *= 2) {
        float y = __shfl_up_sync(ALL_LANES, x, d);
        if (threadIdx.x % WARP >= d) x += y;
    }
    return x;
}

/* The exclusive scan, made of the inclusive one: the value of the lane before, and 0 in lane 0. */
static __device__ float exclusive(float x)
{
    float before = __shfl_up_sync(ALL_LANES, x, 1);
    return threadIdx.x % WARP == 0 ? 0 : before;
}

/*
 * Scans g_idata into g_odata, exclusively. Each block scans one tile. Needs THREADS threads per
 * block, a block for each tile, and zeros in the tiles' states and in the ticket. Elements at n
 * and beyond count as 0. g_odata may be g_idata: a block reads its whole tile before it writes it,
 * and reads no other tile.
 */
template <int VECTORS>
static __global__ void scan_tiles(float *g_odata, const float *g_idata, uint64_t *g_states,
                                  unsigned *g_ticket, size_t n)
{
    __shared__ float totals[TOTALS(VECTORS)]; // those of all v[0], of all v[1] …
    __shared__ int ticket;
    __shared__ float prefix;

    int thid = threadIdx.x, lane = thid % WARP, warp = thid / WARP;

    // Draw a ticket, the number of this block's tile. A block that drew a lower number has started,
    // and will publish its aggregate without waiting for another block. With blockIdx this would
    // not be certain: a block could wait for one that gets no place on the GPU before this one
    // ends.
    if (thid == 0) ticket = atomicAdd(g_ticket, 1);

    // All threads read what the first thread has written: none may start before.
    __syncthreads();
    int tile = ticket;

    // Load the float4 of each thread, one from each part of the tile.
    size_t first = (size_t)tile * TILE(VECTORS) + 4 * thid; // this thread's first element
    float4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) v[k] = load4(g_idata, first + 4 * THREADS * k, n);

    // Scan each in registers, inclusively: its last element becomes its total. Then scan these
    // totals within the warp. The last lane then has the total of the warp.
    float scanned[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        v[k].y += v[k].x, v[k].z += v[k].y, v[k].w += v[k].z;
        scanned[k] = warp_scan(v[k].w);
        if (lane == WARP - 1) totals[warp + THREADS / WARP * k] = scanned[k];
    }

    // The first warp reads what all warps have written: it may not start before.
    __syncthreads();

    // The first warp scans the totals, 32 at a time, and publishes the tile's aggregate. It finds
    // the sum of all before the tile, adds the aggregate, and publishes that as the tile's prefix:
    // a later tile that finds it needs to look no further back.
    if (warp == 0) {
        float sum = 0, before = 0;
#pragma unroll
        for (int i = lane; i - lane < TOTALS(VECTORS); i += WARP) {
            float inclusive = warp_scan(i < TOTALS(VECTORS) ? totals[i] : 0);
            float exclusively = exclusive(inclusive);
            if (i < TOTALS(VECTORS)) totals[i] = sum + exclusively;
            sum += __shfl_sync(ALL_LANES, inclusive, WARP - 1);
        }
        // lab: publish the aggregate, look back, publish the prefix, set `prefix`
        if (tile > 0) {
            if (lane == 0) publish(&g_states[tile], AGGREGATE, sum);
            before = look_back(g_states, tile);
        }
        if (lane == 0) {
            publish(&g_states[tile], PREFIX, before + sum);
            prefix = before;
        }
        // lab: end
    }

    // All warps read what the first warp has written: none may start before.
    __syncthreads();

    // Write the result. To each float4 is added the sum of all before it: in other tiles, in other
    // warps and in its own.
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        float before = prefix + totals[warp + THREADS / WARP * k] + exclusive(scanned[k]);
        store4(g_odata, first + 4 * THREADS * k, n,
               make_float4(before, before + v[k].x, before + v[k].y, before + v[k].z));
    }
}

// lab: instance scan_tiles<2>(float *, const float *, uint64_t *, unsigned *, size_t)
extern "C" scan_fn step11_scan;

/*
 * The workspace holds the tiles' states and the ticket. Each scan has to find zeros there (EMPTY
 * is 0), and what the workspace holds before is arbitrary. So every scan clears it.
 */
cudaError_t step11_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;

    size_t tiles = (n - 1) / TILE(VECTORS(variant)) + 1;
    uint64_t *g_states = (uint64_t *)workspace;
    unsigned *g_ticket = (unsigned *)(g_states + tiles);
    auto scan = variant == TILE_2048   ? scan_tiles<VECTORS(TILE_2048)>
                : variant == TILE_4096 ? scan_tiles<VECTORS(TILE_4096)>
                                       : scan_tiles<VECTORS(TILE_8192)>;

    if (tiles > INT32_MAX) return cudaErrorInvalidValue; // the largest grid

    cudaError_t error = cudaMemsetAsync(workspace, 0, (tiles + 1) * sizeof *g_states, stream);
    if (error != cudaSuccess) return error;
    scan<<<tiles, THREADS, 0, stream>>>((float *)out, (const float *)in, g_states, g_ticket, n);
    return cudaGetLastError();
}

/* Bytes of the workspace. */
extern "C" size_t step11_workspace(size_t n, int variant)
{
    size_t tile = TILE((size_t)VECTORS(variant));
    return ((n + tile - 1) / tile + 1) * sizeof(uint64_t);
}

/*
 * Step 9: warp shuffles in place of the tree.
 *
 * What it is: a scan by __shfl_up_sync, as the CUDA manual and section 1.4.3.3 of NVIDIA's guide
 * to Kepler teach it. Lanes of a warp hand values to each other, register to register: no shared
 * memory, no barrier, no bank to conflict.
 * Same as step 7 except: the tree. Each warp scans its threads' totals by the sweeps of step 2; the
 * warps' totals go through shared memory, where one warp scans them in the same way. The variant
 * `predicate` takes from the shuffle itself whether its lane got a value, which only PTX can say.
 * What it fixes: 17 of 19 barriers, and the levels near the root where one warp works and the
 * others wait.
 * What is still bad: every element goes to memory twice, for the block scan and for uniform_add
 * (step 11); the levels of block sums are launches of their own (step 10).
 * How to run it: make step9 && ./step9 --variant predicate; its tests: make test-step9
 */
#include "common/step/step.h"
#include "scan.h"
#include "common/step/float4.cuh"

#define ALL_LANES 0xffffffff

/* Adds to x the value that the lane `d` places before this one has. The first d lanes keep their
 * x. */
template <int VARIANT> static __device__ float add_from(float x, int d)
{
    if (VARIANT == SHFL) {
        // Every lane gives a value and takes one, so all lanes must execute the shuffle. A lane
        // without a lane d places before it gets its own x back and must not add it.
        // lab: add the x of the lane d places before, if there is one
        float y = __shfl_up_sync(ALL_LANES, x, d);
        if (threadIdx.x % WARP >= d) x += y;
        // lab: end
    } else {
        // The shuffle also sets a predicate: p is true if there is a lane d places before.
        asm volatile("{ .reg .pred p;"
                     "  .reg .f32 y;"
                     "  shfl.sync.up.b32 y|p, %0, %1, 0, 0xffffffff;"
                     "  @p add.f32 %0, %0, y; }"
                     : "+f"(x)
                     : "r"(d));
    }
    return x;
}

/* The sum of x over the lanes up to and including this one. All lanes of the warp take part. */
template <int VARIANT> static __device__ float warp_scan(float x)
{
#pragma unroll
    for (int d = 1; d < WARP; d *= 2) x = add_from<VARIANT>(x, d);
    return x;
}

/* The exclusive scan, made of the inclusive one: the value of the lane before, and 0 in lane 0. */
static __device__ float exclusive(float x)
{
    float before = __shfl_up_sync(ALL_LANES, x, 1);
    return threadIdx.x % WARP == 0 ? 0 : before;
}

/*
 * Block j scans the elements [j B, j B + B) of g_idata into g_odata, exclusively, and stores their
 * sum in g_sums[j] unless that is NULL. Needs THREADS threads a block. Beyond n the elements count
 * as 0. g_odata may be g_idata.
 */
template <int VARIANT>
static __global__ void scan_block(float *g_odata, const float *g_idata, float *g_sums, size_t n)
{
    // The warps' totals: first those of all float4 a, then those of all float4 b.
    __shared__ float totals[TOTALS];

    int thid = threadIdx.x, lane = thid % WARP, warp = thid / WARP;
    size_t begin = (size_t)blockIdx.x * B; // this block's first element

    // Load two float4 a thread, one from each half.
    size_t ai = begin + 4 * thid;
    size_t bi = ai + B / 2;
    float4 a = load4(g_idata, ai, n);
    float4 b = load4(g_idata, bi, n);

    // Scan each in registers, inclusively: its last element becomes its total.
    a.y += a.x, a.z += a.y, a.w += a.z;
    b.y += b.x, b.z += b.y, b.w += b.z;

    // Scan these totals within the warp. The last lane then has the total of the warp.
    float scannedA = warp_scan<VARIANT>(a.w);
    float scannedB = warp_scan<VARIANT>(b.w);
    if (lane == WARP - 1) {
        totals[warp] = scannedA;
        totals[warp + TOTALS / 2] = scannedB;
    }

    // The first warp reads what all warps have written: it may not start before.
    __syncthreads();

    // The first warp scans the totals. Lanes without a total take part in the shuffles, which need
    // the whole warp.
    if (warp == 0) {
        // lab: scan the warps' totals, exclusively, and store the block's sum
        float scanned = warp_scan<VARIANT>(lane < TOTALS ? totals[lane] : 0);
        float before = exclusive(scanned);
        if (lane < TOTALS) totals[lane] = before;
        if (lane == TOTALS - 1 && g_sums != NULL) g_sums[blockIdx.x] = scanned;
        // lab: end
    }

    // All warps read what the first warp has written: none may start before.
    __syncthreads();

    // Write the result. To each float4 is added the sum of all before it, in other warps and in its
    // own.
    // lab: a and b become their results: the sum of all before, and its scan
    float beforeA = totals[warp] + exclusive(scannedA);
    float beforeB = totals[warp + TOTALS / 2] + exclusive(scannedB);
    a = make_float4(beforeA, beforeA + a.x, beforeA + a.y, beforeA + a.z);
    b = make_float4(beforeB, beforeB + b.x, beforeB + b.y, beforeB + b.z);
    // lab: end
    store4(g_odata, ai, n, a);
    store4(g_odata, bi, n, b);
}

/*
 * Adds g_incr[j], the sum of all blocks before block j, to the B elements of block j. Block 0 is
 * left out, because its increment is 0. Needs THREADS threads per block, and one block less than
 * there are sums.
 */
static __global__ void uniform_add(float *g_odata, const float *g_incr, size_t n)
{
    size_t j = blockIdx.x + 1;
    size_t ai = j * B + 4 * threadIdx.x, bi = ai + B / 2;
    float incr = g_incr[j];
    float4 a = load4(g_odata, ai, n);
    float4 b = load4(g_odata, bi, n);

    store4(g_odata, ai, n, make_float4(a.x + incr, a.y + incr, a.z + incr, a.w + incr));
    store4(g_odata, bi, n, make_float4(b.x + incr, b.y + incr, b.z + incr, b.w + incr));
}

// lab: instance scan_block<SHFL>(float *, const float *, float *, size_t)
extern "C" scan_fn step09_scan;

/*
 * The workspace holds the block sums of this level, followed by those of the levels above. This
 * same function scans them in place, so that the sums become the increments.
 */
cudaError_t step09_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;

    float *g_odata = (float *)out;
    const float *g_idata = (const float *)in;
    size_t blocks = (n + B - 1) / B;
    float *g_sums = blocks > 1 ? (float *)workspace : NULL;
    auto scan = variant == PREDICATE ? scan_block<PREDICATE> : scan_block<SHFL>;
    cudaError_t error;

    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // the largest grid

    // Scan the blocks.
    scan<<<blocks, THREADS, 0, stream>>>(g_odata, g_idata, g_sums, n);
    error = cudaGetLastError();
    if (error != cudaSuccess || blocks == 1) return error;

    // Scan the block sums, and add them to the blocks.
    error = step09_scan(g_sums, g_sums, blocks, variant, g_sums + blocks, stream);
    if (error != cudaSuccess) return error;
    uniform_add<<<blocks - 1, THREADS, 0, stream>>>(g_odata, g_sums, n);
    return cudaGetLastError();
}

/* Bytes: the block sums of all levels. The topmost level, of one block, has none. */
extern "C" size_t step09_workspace(size_t n, int variant)
{
    size_t blocks = (n + B - 1) / B;
    return blocks > 1 ? blocks * sizeof(float) + step09_workspace(blocks, variant) : 0;
}

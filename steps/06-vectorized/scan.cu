/*
 * Step 6: eight elements for each thread, moved four at a time.
 *
 * What it is: the first half of section 39.2.5 of GPU Gems 3. Each thread loads two float4, scans
 * each in registers, and puts only the two totals into the tree; then it adds what the tree says
 * to the scans that it has kept.
 * Same as step 5 except: load4 and store4 (float4.cuh); the totals are the leaves of the tree, TREE
 * of them for B = 4 TREE elements, and TREE is a constant; uniform_add loads its increment once.
 * What it fixes: it needs a quarter of the instructions, barriers and shared memory's traffic for
 * each element; four times as many bytes are under way for each thread, so the memory's latency
 * is better hidden.
 * What is still bad: the loops over the tree cost instructions that the fixed size makes needless
 * (step 7). A buffer that is not aligned to 16 bytes is read in single floats, four apart, with
 * four times the requests. And every element still goes to memory twice.
 * How to run it: make step6 && ./step6 --counters; its tests: make test-step6
 */
#include "common/step/step.h"
#include "scan.h"
#include "common/step/float4.cuh"

/*
 * Block j scans the elements [j B, j B + B) of g_idata into g_odata, exclusively, and stores their
 * sum in g_sums[j] unless that is NULL. Needs blocks of TREE/2 threads and PADDED_SIZE(TREE) floats
 * of shared memory. Beyond n the elements count as 0. g_odata may be g_idata.
 */
static __global__ void scan_block(float *g_odata, const float *g_idata, float *g_sums, size_t n)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level
    size_t begin = (size_t)blockIdx.x * B; // this block's first element

    // Load two float4 per thread, one from each half. (part A)
    int ai = thid;
    int bi = thid + TREE / 2;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    float4 a = load4(g_idata, begin + 4 * ai, n);
    float4 b = load4(g_idata, begin + 4 * bi, n);

    // Scan each in registers, inclusively: its last element becomes its total, a leaf of the tree.
    // lab: scan a and b in registers; their totals become leaves of the tree
    a.y += a.x, a.z += a.y, a.w += a.z;
    b.y += b.x, b.z += b.y, b.w += b.z;
    temp[ai + bankOffsetA] = a.w;
    temp[bi + bankOffsetB] = b.w;
    // lab: end

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
#pragma unroll 1 // keep the loop: step 7 unrolls it
    for (int d = TREE >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the totals), which other threads have
        // written: no read may start before all of them are there.
        __syncthreads();

        if (thid < d) { //                                                              (part B)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }

    // Store the block's sum, then clear the root: nothing lies to the left of the whole. No barrier
    // before it is needed, because thread 0 has written the root itself.               (part C)
    if (thid == 0) {
        int root = TREE - 1 + CONFLICT_FREE_OFFSET(TREE - 1);
        if (g_sums != NULL) g_sums[blockIdx.x] = temp[root];
        temp[root] = 0;
    }

    // Down-sweep: give each left child its parent's value, and each right child the parent's value
    // plus the left child's sum.
#pragma unroll 1
    for (int d = 1; d < TREE; d *= 2) {
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) { //                                                              (part D)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }

    // The last level has written elements that other threads fetch: no fetch may start before.
    __syncthreads();

    // Write the result: to each float4 is added the sum of all before it. (part E)
    // lab: add the sum of all before to each float4, and store both
    float beforeA = temp[ai + bankOffsetA];
    float beforeB = temp[bi + bankOffsetB];
    a = make_float4(beforeA, beforeA + a.x, beforeA + a.y, beforeA + a.z);
    b = make_float4(beforeB, beforeB + b.x, beforeB + b.y, beforeB + b.z);
    store4(g_odata, begin + 4 * ai, n, a);
    store4(g_odata, begin + 4 * bi, n, b);
    // lab: end
}

/*
 * Adds g_incr[j], the sum of all blocks before block j, to the B elements of block j. Block 0 is
 * left out, because its increment is 0. Needs TREE/2 threads per block, and one block less than
 * there are sums.
 */
static __global__ void uniform_add(float *g_odata, const float *g_incr, size_t n)
{
    size_t j = blockIdx.x + 1;
    size_t ai = j * B + 4 * threadIdx.x, bi = ai + B / 2;
    float incr = g_incr[j];
    // lab: each thread adds `incr` to two float4, at ai and bi
    float4 a = load4(g_odata, ai, n);
    float4 b = load4(g_odata, bi, n);

    store4(g_odata, ai, n, make_float4(a.x + incr, a.y + incr, a.z + incr, a.w + incr));
    store4(g_odata, bi, n, make_float4(b.x + incr, b.y + incr, b.z + incr, b.w + incr));
    // lab: end
}

extern "C" scan_fn step06_scan;

/*
 * The workspace holds the block sums of this level, followed by those of the levels above. This
 * same function scans them in place, so that the sums become the increments.
 */
cudaError_t step06_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    (void)variant;
    if (n == 0) return cudaSuccess;

    float *g_odata = (float *)out;
    const float *g_idata = (const float *)in;
    size_t blocks = (n + B - 1) / B;
    float *g_sums = blocks > 1 ? (float *)workspace : NULL;
    size_t shared = PADDED_SIZE(TREE) * sizeof(float);
    cudaError_t error;

    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // the largest grid

    // Scan the blocks.
    scan_block<<<blocks, TREE / 2, shared, stream>>>(g_odata, g_idata, g_sums, n);
    error = cudaGetLastError();
    if (error != cudaSuccess || blocks == 1) return error;

    // Scan the block sums, and add them to the blocks.
    error = step06_scan(g_sums, g_sums, blocks, variant, g_sums + blocks, stream);
    if (error != cudaSuccess) return error;
    uniform_add<<<blocks - 1, TREE / 2, 0, stream>>>(g_odata, g_sums, n);
    return cudaGetLastError();
}

/* Bytes: the block sums of all levels. The topmost level, of one block, has none. */
extern "C" size_t step06_workspace(size_t n, int variant)
{
    size_t blocks = (n + B - 1) / B;
    return blocks > 1 ? blocks * sizeof(float) + step06_workspace(blocks, variant) : 0;
}

/*
 * variants.cu — other block scans for step 5, for comparison: with step 3's tree, with step 2's
 * sweeps, and with a launch of its own for the last elements (Harris).
 */
#include "common/step/step.h"
#include "scan.h"
#include "variants.h"
#include "naive.cuh"

/*
 * Block j scans the elements [j size, j size + size) of g_idata into g_odata, exclusively, and
 * stores their sum in g_sums[j] unless that is NULL. size is a power of two, at least 2. Needs
 * blocks of size/2 threads and VARIANT_SIZE(size, PADDING) floats of shared memory. Only if CHECKED
 * may a block reach beyond n, where elements count as 0. g_odata may be g_idata.
 */
template <bool PADDING, bool CHECKED>
static __global__ void scan_block(float *g_odata, const float *g_idata, float *g_sums, size_t n,
                                  int size)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level
    size_t begin = (size_t)blockIdx.x * size; // this block's first element

    // Each thread loads two elements, one of each half, or two neighbours (step 3).    (part A)
    int ai = PADDING ? thid : 2 * thid;
    int bi = PADDING ? thid + size / 2 : 2 * thid + 1;
    int bankOffsetA = VARIANT_OFFSET(ai, PADDING);
    int bankOffsetB = VARIANT_OFFSET(bi, PADDING);
    temp[ai + bankOffsetA] = (!CHECKED || begin + ai < n) ? g_idata[begin + ai] : 0;
    temp[bi + bankOffsetB] = (!CHECKED || begin + bi < n) ? g_idata[begin + bi] : 0;

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
    for (int d = size >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
        __syncthreads();

        if (thid < d) { //                                                              (part B)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += VARIANT_OFFSET(ai, PADDING);
            bi += VARIANT_OFFSET(bi, PADDING);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }

    // Store the block's sum, then clear the root: nothing lies to the left of the whole. No barrier
    // before it is needed, because thread 0 has written the root itself.               (part C)
    if (thid == 0) {
        int root = size - 1 + VARIANT_OFFSET(size - 1, PADDING);
        if (g_sums != NULL) g_sums[blockIdx.x] = temp[root];
        temp[root] = 0;
    }

    // Down-sweep: give each left child its parent's value, and each right child the parent's value
    // plus the left child's sum.
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) { //                                                              (part D)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += VARIANT_OFFSET(ai, PADDING);
            bi += VARIANT_OFFSET(bi, PADDING);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }

    // The last level has written elements that other threads fetch: no fetch may start before.
    __syncthreads();

    // Write the result where it was loaded from.                                       (part E)
    if (!CHECKED || begin + ai < n) g_odata[begin + ai] = temp[ai + bankOffsetA];
    if (!CHECKED || begin + bi < n) g_odata[begin + bi] = temp[bi + bankOffsetB];
}

/* Full blocks, which check no bounds; then, with the next power of two as its size, the rest. */
static void scan_full_and_rest(float *g_odata, const float *g_idata, float *g_sums, size_t n,
                               cudaStream_t stream)
{
    size_t full = n / B, rest = n % B; // blocks without an element missing, and elements after them
    size_t shared = VARIANT_SIZE(B, true) * sizeof(float);

    if (full > 0)
        scan_block<true, false><<<full, B / 2, shared, stream>>>(g_odata, g_idata, g_sums, n, B);
    if (rest > 0) {
        int size = remainder_size(rest);
        float *g_sum = g_sums != NULL ? g_sums + full : NULL;
        shared = VARIANT_SIZE(size, true) * sizeof(float);
        scan_block<true, true><<<1, size / 2, shared, stream>>>(
            g_odata + full * B, g_idata + full * B, g_sum, rest, size);
    }
}

cudaError_t step05_scan_blocks(float *g_odata, const float *g_idata, float *g_sums, size_t n,
                               int variant, cudaStream_t stream)
{
    size_t blocks = (n + B - 1) / B;
    size_t shared = VARIANT_SIZE(B, variant != WORK_EFFICIENT) * sizeof(float);

    switch (variant) {
    case WORK_EFFICIENT:
        scan_block<false, true><<<blocks, B / 2, shared, stream>>>(g_odata, g_idata, g_sums, n, B);
        break;
    case NAIVE:
        shared = 2 * B * sizeof(float);
        scan_block_naive<<<blocks, B, shared, stream>>>(g_odata, g_idata, g_sums, n, B);
        break;
    case REMAINDER: scan_full_and_rest(g_odata, g_idata, g_sums, n, stream); break;
    default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

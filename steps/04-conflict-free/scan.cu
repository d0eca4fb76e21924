/*
 * Step 4: the work-efficient scan without bank conflicts, in one block.
 *
 * What it is: step 3 with the changes of Harris 2007, Listings 3 and 4 (Listings 39-3 and 39-4 of
 * GPU Gems 3), corrected.
 * Same as step 3 except: every index into shared memory is moved to the right by
 * CONFLICT_FREE_OFFSET (scan.h), and a thread takes elements n/2 apart instead of neighbours.
 * What it fixes: at the tree's strides of 2, 4, 8 … the lanes of a warp shared few of the 32 banks,
 * so that an access was split into several wavefronts. With one float of padding after every 32
 * elements, lanes whose words are 32 apart use neighbouring banks.
 * What is still bad: 2048 elements have some conflicts, because the padding itself has a period.
 * variants.cu compares two other paddings: pad32x2 leaves no conflict there, and pad16, the
 * documents' padding for the 16 banks of 2007, leaves 2-way and 4-way conflicts on 32 banks. There
 * is one block only, and n is a power of two (step 5).
 * How to run it: make step4 && ./step4 --counters; its tests: make test-step4
 */
#include "common/step/step.h"
#include "scan.h"
#include "variants.h" // lab: left out

/*
 * Scans the n elements of g_idata into g_odata, exclusively. n is a power of two, at least 2. Needs
 * one block of n/2 threads and PADDED_SIZE(n) floats of shared memory. g_odata may be g_idata.
 */
static __global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level

    // Each thread loads two elements, one from each half of the array.                 (part A)
    int ai = thid;
    int bi = thid + n / 2;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
    for (int d = n >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
        __syncthreads();

        if (thid < d) { //                                                              (part B)
            // lab: step 3's addition of a pair, at padded indices
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
            // lab: end
        }
        offset *= 2;
    }

    // Clear the root: nothing lies to the left of the whole. No barrier before it is needed,
    // because thread 0 has written the root itself.                                    (part C)
    // lab: clear the root, at its padded index
    if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    // lab: end

    // Down-sweep: give each left child its parent's value, and each right child the parent's value
    // plus the left child's sum.
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) { //                                                              (part D)
            // lab: step 3's way down for a pair, at padded indices
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
            // lab: end
        }
    }

    // The last level has written elements that other threads fetch: no fetch may start before.
    __syncthreads();

    // Each thread writes two elements of the result, one to each half.                 (part E)
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

extern "C" scan_fn step04_scan, step04_variants;

cudaError_t step04_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    const size_t most = 2048; // a block has 1024 threads, and each takes two elements

    if (n == 0) return cudaSuccess;
    if (n > most || (n & (n - 1)) != 0) return cudaErrorInvalidValue;

    // The scan of one element is 0; a tree needs two.
    if (n == 1) return cudaMemsetAsync(out, 0, sizeof(float), stream);

    // Other paddings, for comparison. // lab: left out
    if (variant != PAD32) // lab: left out
        return step04_variants(out, in, n, variant, workspace, stream); // lab: left out

    size_t shared = PADDED_SIZE(n) * sizeof(float);
    scan_block<<<1, n / 2, shared, stream>>>((float *)out, (const float *)in, (int)n);
    return cudaGetLastError();
}

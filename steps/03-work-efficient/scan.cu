/*
 * Step 3: the work-efficient scan (Blelloch 1990), in one block.
 *
 * What it is: Algorithms 3 and 4 and Listing 2 of Harris 2007 (Listing 39-2 of GPU Gems 3). A
 * balanced binary tree is laid over the array: the up-sweep builds sums from the leaves to the
 * root, the down-sweep hands to every node the sum of all that lies to its left.
 * Same as step 2 except: two sweeps over a tree, in place, with n/2 threads and one buffer.
 * What it fixes: the work. 2 (n - 1) additions, whatever log2 n is.
 * What is still bad: the tree's strides are powers of two, so up to 32 lanes of a warp use the same
 * bank of shared memory (step 4); one block, n a power of two (step 5).
 * How to run it: make step3 && ./step3 --counters; its tests: make test-step3
 *
 * The letters A to E mark the parts of the kernel that the documents mark, and call blocks.
 */
#include "common/step/step.h"

/*
 * Scans the n elements of g_idata into g_odata, exclusively. n is a power of two, at least 2. Needs
 * one block of n/2 threads and n floats of shared memory. g_odata may be g_idata.
 */
static __global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level

    // Each thread loads two neighbouring elements.                                     (part A)
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
    for (int d = n >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
        __syncthreads();

        // lab: add each left child to its right sibling, then double offset
        if (thid < d) { //                                                              (part B)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
        // lab: end
    }

    // Clear the root: nothing lies to the left of the whole. No barrier before it is needed,
    // because thread 0 has written the root itself.                                    (part C)
    // lab: clear the root
    if (thid == 0) temp[n - 1] = 0;
    // lab: end

    // Down-sweep: give each left child its parent's value, and each right child the parent's value
    // plus the left child's sum.
    for (int d = 1; d < n; d *= 2) {
        // lab: halve offset, wait, and pass sums to both children
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) { //                                                              (part D)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
        // lab: end
    }

    // As in the document; but each thread reads only what it has written itself at the last level.
    __syncthreads();

    // Each thread writes two neighbouring elements of the result.                      (part E)
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

extern "C" scan_fn step03_scan;

cudaError_t step03_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    const size_t most = 2048; // a block has 1024 threads, and each takes two elements
    (void)variant, (void)workspace;

    if (n == 0) return cudaSuccess;
    if (n > most || (n & (n - 1)) != 0) return cudaErrorInvalidValue;

    // The scan of one element is 0; a tree needs two.
    if (n == 1) return cudaMemsetAsync(out, 0, sizeof(float), stream);

    scan_block<<<1, n / 2, n * sizeof(float), stream>>>((float *)out, (const float *)in, (int)n);
    return cudaGetLastError();
}

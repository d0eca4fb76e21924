/*
 * Step 5: a scan of any size, in blocks.
 *
 * What it is: "Arrays of Arbitrary Size" in Harris 2007 (section 39.2.4 and Figure 39-6 of GPU Gems
 * 3). Each block scans B elements of its own and stores their sum; the block sums are scanned in
 * the same way, level upon level until one block holds them all; then each block's elements get the
 * sum of all blocks before added to them.
 * Same as step 4 except: a block finds its elements by blockIdx, fills up with zeros beyond n, and
 * stores its sum before it clears the root; uniform_add; the levels. variants.cu has other block
 * scans, which Figures 39-7 and 39-8 compare.
 * What it fixes: the limits. Any n that fits into memory, and all multiprocessors have work.
 * What is still bad: the instructions for each element limit the block scan, and uniform_add has
 * too few bytes in flight to hide the latency of memory (step 6). And every element goes to memory
 * twice, for the block scan and for uniform_add.
 * How to run it: make step5 && ./step5 --variant naive; its tests: make test-step5
 */
#include "common/step/step.h"
#include "scan.h"
#include "variants.h" // lab: left out

/*
 * Block j scans the elements [j size, j size + size) of g_idata into g_odata, exclusively, and
 * stores their sum in g_sums[j] unless that is NULL. size is a power of two, at least 2. Needs
 * blocks of size/2 threads and PADDED_SIZE(size) floats of shared memory. Beyond n the elements
 * count as 0. g_odata may be g_idata.
 */
static __global__ void scan_block(float *g_odata, const float *g_idata, float *g_sums, size_t n,
                                  int size)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level
    size_t begin = (size_t)blockIdx.x * size; // this block's first element

    // Each thread loads two elements, one from each half of the block's part.          (part A)
    int ai = thid;
    int bi = thid + size / 2;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    // lab: load elements `ai` and `bi` of this block; beyond n they count as 0
    temp[ai + bankOffsetA] = begin + ai < n ? g_idata[begin + ai] : 0;
    temp[bi + bankOffsetB] = begin + bi < n ? g_idata[begin + bi] : 0;
    // lab: end

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
    for (int d = size >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
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
        // lab: store the block's sum unless g_sums is NULL, then clear the root
        int root = size - 1 + CONFLICT_FREE_OFFSET(size - 1);
        if (g_sums != NULL) g_sums[blockIdx.x] = temp[root];
        temp[root] = 0;
        // lab: end
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
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }

    // The last level has written elements that other threads fetch: no fetch may start before.
    __syncthreads();

    // Each thread writes two elements of the result, one to each half.                 (part E)
    // lab: write the two elements, but none beyond n
    if (begin + ai < n) g_odata[begin + ai] = temp[ai + bankOffsetA];
    if (begin + bi < n) g_odata[begin + bi] = temp[bi + bankOffsetB];
    // lab: end
}

/*
 * Adds g_incr[j], the sum of all blocks before block j, to the B elements of block j. Block 0 is
 * left out, because its increment is 0. Needs B/2 threads per block, and one block less than there
 * are sums.
 */
static __global__ void uniform_add(float *g_odata, const float *g_incr, size_t n)
{
    // lab: each thread adds the increment to two elements, but to none beyond n
    size_t j = blockIdx.x + 1;
    size_t ai = j * B + threadIdx.x, bi = ai + B / 2;

    if (ai < n) g_odata[ai] += g_incr[j];
    if (bi < n) g_odata[bi] += g_incr[j];
    // lab: end
}

extern "C" scan_fn step05_scan;

/*
 * The workspace holds the block sums of this level, followed by those of the levels above. This
 * same function scans them in place, so that the sums become the increments.
 */
cudaError_t step05_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;

    float *g_odata = (float *)out;
    const float *g_idata = (const float *)in;
    size_t blocks = (n + B - 1) / B;
    float *g_sums = blocks > 1 ? (float *)workspace : NULL;
    size_t shared = PADDED_SIZE(B) * sizeof(float);
    cudaError_t error;

    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // the largest grid

    // Other block scans, for comparison, are in variants.cu. // lab: left out
    if (variant == CONFLICT_FREE) { // lab: left out
        scan_block<<<blocks, B / 2, shared, stream>>>(g_odata, g_idata, g_sums, n, B);
        error = cudaGetLastError();
    } else { // lab: left out
        error = step05_scan_blocks(g_odata, g_idata, g_sums, n, variant, stream); // lab: left out
    } // lab: left out
    if (error != cudaSuccess || blocks == 1) return error;

    // Scan the block sums, and add them to the blocks.
    error = step05_scan(g_sums, g_sums, blocks, variant, g_sums + blocks, stream);
    if (error != cudaSuccess) return error;
    uniform_add<<<blocks - 1, B / 2, 0, stream>>>(g_odata, g_sums, n);
    return cudaGetLastError();
}

/* Bytes: the block sums of all levels. The topmost level, of one block, has none. */
extern "C" size_t step05_workspace(size_t n, int variant)
{
    size_t blocks = (n + B - 1) / B;
    return blocks > 1 ? blocks * sizeof(float) + step05_workspace(blocks, variant) : 0;
}

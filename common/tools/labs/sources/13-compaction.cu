/*
 * Step 13: stream compaction: keep the positive elements
 *
 * What it is: GPU Gems 3, section 39.3.1, as in document.cu of the step. A kernel writes 1 for each
 * element that is kept, and 0 for the others. The exclusive scan of these flags gives each kept
 * element its place, and another kernel stores the elements there, in their order.
 * Same as the step's variant `document` except: an element is kept if it is greater than 0, and the
 * scan is one of blocks, with the shuffles of step 9 and with uniform_add, of one integer a thread.
 * The lab launches: mark; scan_block on the flags; scan_block on the blocks' sums and uniform_add,
 * if there is more than one block; scatter.
 */
#include "common/step/step.h"

#define WARP      32
#define B         512 /* elements, and threads, of a block */
#define WARPS     (B / WARP)
#define ALL_LANES 0xffffffff

/* Writes a flag for each element: 1 if it is kept, and 0 if it is not. */
static __global__ void mark(int *flags, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * B + threadIdx.x;
    if (i < n) {
        // lab: the flag of element i, which is kept if it is greater than 0
        flags[i] = in[i] > 0;
        // lab: end
    }
}

/* The sum of x over the lanes up to and including this one. All lanes of the warp take part. */
static __device__ int warp_scan(int x)
{
#pragma unroll
    for (int d = 1; d < WARP; d *= 2) {
        int y = __shfl_up_sync(ALL_LANES, x, d);
        if (threadIdx.x % WARP >= d) x += y;
    }
    return x;
}

/*
 * Block j scans the numbers [j B, j B + B) of `in` into `out`, exclusively, and stores their sum in
 * sums[j] unless that is NULL. Beyond n the numbers count as 0. `out` may be `in`.
 */
static __global__ void scan_block(int *out, const int *in, int *sums, size_t n)
{
    __shared__ int totals[WARPS];
    int thid = threadIdx.x, lane = thid % WARP, warp = thid / WARP;
    size_t i = (size_t)blockIdx.x * B + thid;
    int x = i < n ? in[i] : 0, place = 0;

    // Each warp scans its numbers. Its last lane then has the warp's sum.
    int sum = warp_scan(x);
    if (lane == WARP - 1) totals[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        // lab: scan the warps' totals, exclusively, and store the block's sum
        int total = lane < WARPS ? totals[lane] : 0;
        int scanned = warp_scan(total);
        if (lane < WARPS) totals[lane] = scanned - total;
        if (lane == WARPS - 1 && sums != NULL) sums[blockIdx.x] = scanned;
        // lab: end
    }
    __syncthreads();

    // lab: place becomes the sum of all numbers before x in this block
    place = totals[warp] + sum - x;
    // lab: end
    if (i < n) out[i] = place;
}

/* Adds incr[j], the sum of all blocks before block j, to the numbers of block j. Block 0 is left
 * out, because its increment is 0. */
static __global__ void uniform_add(int *out, const int *incr, size_t n)
{
    size_t j = blockIdx.x + 1;
    size_t i = j * B + threadIdx.x;
    if (i < n) out[i] += incr[j];
}

/* Stores the kept elements without gaps, in their order, and in *kept how many there are. Nothing
 * is stored behind the last one. */
static __global__ void scatter(float *out, int *kept, const float *in, const int *flags,
                               const int *places, size_t n)
{
    size_t i = (size_t)blockIdx.x * B + threadIdx.x;
    if (i >= n) return;
    // lab: store element i at its place, if it is kept
    if (flags[i]) out[places[i]] = in[i];
    // lab: end

    // lab: one thread stores the number of kept elements
    if (i == n - 1) *kept = places[i] + flags[i];
    // lab: end
}

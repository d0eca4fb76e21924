/*
 * scan_rows.cuh — step 5's scan for many rows at a time: a two-dimensional grid, with a row of
 * blocks for each row of the picture.
 *
 * Only the indices into global memory differ from the scan of one array, as the document says; and
 * the sums may include the element itself.
 */
#ifndef STEP14_SCAN_ROWS_CUH
#define STEP14_SCAN_ROWS_CUH

#include "steps/04-conflict-free/scan.h"

#include <stddef.h>

#define BLOCK_ELEMENTS 512 // that a block scans at most: step 5's B

#define OFFSET(i) CONFLICT_FREE_OFFSET(i)

/*
 * Block (j, y) scans the elements [j size, j size + size) of row y, and stores their sum in
 * g_sums[y gridDim.x + j] unless that is NULL. size is a power of two, at least 2. Needs size/2
 * threads and PADDED_SIZE(size) floats of shared memory. g_odata may be g_idata.
 */
template <bool INCLUSIVE>
static __global__ void scan_rows(float *g_odata, const float *g_idata, float *g_sums, size_t width,
                                 int size)
{
    extern __shared__ __align__(16) float temp[];

    int thid = threadIdx.x;
    int offset = 1;
    size_t row = (size_t)blockIdx.y * width; // all that is new
    size_t begin = (size_t)blockIdx.x * size;

    int ai = thid, bi = thid + size / 2;
    float a = begin + ai < width ? g_idata[row + begin + ai] : 0;
    float b = begin + bi < width ? g_idata[row + begin + bi] : 0;
    temp[ai + OFFSET(ai)] = a;
    temp[bi + OFFSET(bi)] = b;

    // Up-sweep.
    for (int d = size >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
        __syncthreads();

        if (thid < d) {
            int left = offset * (2 * thid + 1) - 1, right = offset * (2 * thid + 2) - 1;
            temp[right + OFFSET(right)] += temp[left + OFFSET(left)];
        }
        offset *= 2;
    }

    // Thread 0 has written the root itself.
    if (thid == 0) {
        int root = size - 1 + OFFSET(size - 1);
        if (g_sums != NULL) g_sums[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = temp[root];
        temp[root] = 0;
    }

    // Down-sweep.
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) {
            int left = offset * (2 * thid + 1) - 1, right = offset * (2 * thid + 2) - 1;
            left += OFFSET(left);
            right += OFFSET(right);
            float t = temp[left];
            temp[left] = temp[right];
            temp[right] += t;
        }
    }

    // The last level has written elements for other threads to fetch: no fetch may start before.
    __syncthreads();

    if (begin + ai < width) g_odata[row + begin + ai] = temp[ai + OFFSET(ai)] + (INCLUSIVE ? a : 0);
    if (begin + bi < width) g_odata[row + begin + bi] = temp[bi + OFFSET(bi)] + (INCLUSIVE ? b : 0);
}

/* Adds to the elements of every block of a row but the first the sum of the blocks before it. */
static __global__ void add_to_rows(float *g_odata, const float *g_incr, size_t width)
{
    size_t j = blockIdx.x + 1, blocks = gridDim.x + 1;
    float before = g_incr[blockIdx.y * blocks + j];
    float *row = g_odata + blockIdx.y * width;
    size_t ai = j * BLOCK_ELEMENTS + threadIdx.x, bi = ai + BLOCK_ELEMENTS / 2;

    if (ai < width) row[ai] += before;
    if (bi < width) row[bi] += before;
}

#endif

/*
 * document.cuh — the kernels of the document's table: pixels become arrays of floats, and back;
 * rows are scanned; and matrices are transposed.
 */
#ifndef STEP14_STRUCTURES_CUH
#define STEP14_STRUCTURES_CUH

#include "steps/04-conflict-free/scan.h"

#include <stddef.h>
#include <stdint.h>

/* ---- structures ------------------------------------------------------------------------------ */

/* From an array of structures, the pixels, to an array for each channel, in two ways; and back. */

#define LANES     32
#define ALL_LANES 0xffffffffu

/* As in the chapter: a thread a pixel, of those from `first` on. The lanes of a warp load samples
 * that are `channels` apart, so each of the loads asks for all sectors of the warp's pixels. */
template <typename Pixel>
static __global__ void deinterleave(float *planes, const Pixel *pixels, size_t first, size_t count,
                                    unsigned channels)
{
    size_t i = first + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (unsigned c = 0; c < channels; c++) planes[c * count + i] = pixels[i * channels + c];
}

/*
 * As in the lecture: lanes load neighbouring words and exchange them, so that each word is loaded
 * once. Here a structure is of three words, which are four pixels of RGB. Of the 96 words of a warp
 * lane l loads l, 32 + l and 64 + l, and wants 3l, 3l + 1 and 3l + 2.
 *
 * Word 3l + k lies in lane (3l + k) % 32, in its register (3l + k) / 32. Since 3 and 32 have no
 * common factor, no two lanes want their k-th word from the same lane: one shuffle for each k, and
 * the lane that gives chooses the register.
 */
static __device__ void transpose_words(uint32_t word[3], int lane)
{
    uint32_t got[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        // Lane `lane` gives word 32 r + lane, for the r with which that is 3l + k for some l.
        int r = (lane + 3 - k) % 3; // 32 r + lane - k = 2 r + lane - k modulo 3, so r = lane - k
        uint32_t give = r == 0 ? word[0] : r == 1 ? word[1] : word[2];
        got[k] = __shfl_sync(ALL_LANES, give, (3 * lane + k) % LANES);
    }
    for (int k = 0; k < 3; k++) word[k] = got[k];
}

/* count: pixels, a multiple of 128, which a warp takes at a time. The planes are `stride` apart,
 * and the first one is aligned to 16 bytes. */
static __global__ void deinterleave_by_shuffles(float *planes, const uint32_t *pixels, size_t count,
                                                size_t stride)
{
    const int PIXELS = 4, WORDS = 3; // of a structure
    size_t structure = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % LANES;
    if (structure / LANES * LANES * PIXELS >= count) return; // the whole warp
    const uint32_t *first = pixels + (structure - lane) * WORDS;
    uint32_t word[WORDS];
    for (int k = 0; k < WORDS; k++) word[k] = first[k * LANES + lane];
    transpose_words(word, lane);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float sample[PIXELS], *to = planes + c * stride + structure * PIXELS;
#pragma unroll
        for (int p = 0; p < PIXELS; p++)
            sample[p] = word[(3 * p + c) / 4] >> (8 * ((3 * p + c) % 4)) & 0xff;
        if (stride % PIXELS == 0)
            *(float4 *)to = {sample[0], sample[1], sample[2], sample[3]};
        else
            for (int p = 0; p < PIXELS; p++) to[p] = sample[p];
    }
}

/* Three or four planes become the channels of one array of four floats a pixel. If ALIGNED, it is
 * aligned to a float4. */
template <bool ALIGNED>
static __global__ void interleave(float *table, const float *planes, size_t count,
                                  unsigned channels)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 v = {planes[i], planes[count + i], planes[2 * count + i], 0};
    if (channels == 4) v.w = planes[3 * count + i];
    float *to = table + 4 * i;
    if (ALIGNED)
        *(float4 *)to = v;
    else
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* ---- scans of rows --------------------------------------------------------------------------- */

/* Step 5's scan for many rows at a time: a two-dimensional grid, with a row of blocks for each row
 * of the picture. Only the indices into global memory differ from the scan of one array, as the
 * document says; and the sums may include the element itself. */

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

/* ---- transposition --------------------------------------------------------------------------- */

/* A matrix is transposed by tiles in shared memory: rows are loaded, columns stored, and both
 * accesses to global memory are coalesced. */

#define SIDE           32 // of a tile
#define TRANSPOSE_ROWS 8  // that the threads of a block load at a time

/* Block (b, 0, c) transposes tile b of matrix c, of `height` rows; matrices follow each other. */
static __global__ void transpose(float *out, const float *in, size_t width, size_t height)
{
    // One float more in a row: the elements of a column lie in 32 banks.
    __shared__ float tile[SIDE][SIDE + 1];
    size_t tiles_across = (width + SIDE - 1) / SIDE;
    size_t x0 = blockIdx.x % tiles_across * SIDE, y0 = blockIdx.x / tiles_across * SIDE;
    size_t matrix = blockIdx.z * width * height;
    int i = threadIdx.x;

    for (int j = threadIdx.y; j < SIDE; j += TRANSPOSE_ROWS)
        if (x0 + i < width && y0 + j < height) tile[j][i] = in[matrix + (y0 + j) * width + x0 + i];

    // Other threads have loaded the column that this one stores: no read may start before.
    __syncthreads();

    for (int j = threadIdx.y; j < SIDE; j += TRANSPOSE_ROWS)
        if (x0 + j < width && y0 + i < height)
            out[matrix + (x0 + j) * height + y0 + i] = tile[i][j];
}

#endif

/*
 * boundaries.cu — scans that are wrong at a boundary: of blocks, of warps, of the array, of a
 * number type that counts elements, or of an alignment.
 */
#include "elementwise.cuh"

#define WARP 32

/* ---- the first and the last elements --------------------------------------------------------- */

static __global__ void first_unwritten_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i > 0 && i < n) out[i] = sum_between(in, 0, i);
}
SCAN(first_unwritten, BLOCKS(n), WRONG_BLOCK)

/* ---- of blocks and warps --------------------------------------------------------------------- */

/* The first element of each block gets the value of the last element of the block before. */
ELEMENTWISE(first_of_each_block, sum_between(in, 0, i > 0 && i % WRONG_BLOCK == 0 ? i - 1 : i))

/* Blocks 1 and 2 are exchanged, or 2 is a copy of 1. */
ELEMENTWISE(blocks_swapped, sum_between(in, 0,
                                        IN_BLOCK(i, 1)   ? i + WRONG_BLOCK
                                        : IN_BLOCK(i, 2) ? i - WRONG_BLOCK
                                                         : i))

/* ---- of a tile that is not full -------------------------------------------------------------- */

#define FULL(n) ((n) / WRONG_BLOCK * WRONG_BLOCK)

static __global__ void tail_unwritten_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i < FULL(n)) out[i] = sum_between(in, 0, i);
}
SCAN(tail_unwritten, BLOCKS(n), WRONG_BLOCK)

ELEMENTWISE(tail_without_carry, sum_between(in, i < FULL(n) ? 0 : FULL(n), i))

/* ---- of a number type that is too narrow ----------------------------------------------------- */

ELEMENTWISE(index_of_8_bits, sum_between(in, 0, (unsigned char)i))

/* A grid of at most 16 blocks, and no loop over the rest. */
static __global__ void grid_too_small_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i < n) out[i] = sum_between(in, 0, i);
}
SCAN(grid_too_small, BLOCKS(n) < 16 ? BLOCKS(n) : 16, WRONG_BLOCK)

/* ---- of an alignment ------------------------------------------------------------------------- */

/* Pairs are loaded from the multiple of 8 at or before the array's start. */
static __global__ void misaligned_loads_kernel(float *out, const float *in, size_t n)
{
    const float *aligned = (const float *)((uintptr_t)in / sizeof(float2) * sizeof(float2));
    size_t i = index_of_thread();
    if (i < n) out[i] = sum_between(aligned, 0, i);
}
SCAN(misaligned_loads, BLOCKS(n), WRONG_BLOCK)

static __global__ void misaligned_stores_kernel(float *out, const float *in, size_t n)
{
    float *aligned = (float *)((uintptr_t)out / sizeof(float2) * sizeof(float2));
    size_t i = index_of_thread();
    if (i < n) aligned[i] = sum_between(in, 0, i);
}
SCAN(misaligned_stores, BLOCKS(n), WRONG_BLOCK)

/* ---- in place -------------------------------------------------------------------------------- */

static __global__ void scan_blocks(float *out, const float *in, size_t n)
{
    size_t first = (size_t)blockIdx.x * WRONG_BLOCK;
    float sum = 0;
    for (size_t i = first; i < n && i < first + WRONG_BLOCK; i++) {
        float x = in[i];
        out[i] = sum;
        sum += x;
    }
}

static __global__ void add_carries(float *out, const float *in, size_t n)
{
    for (size_t i = n; i-- > 0;) out[i] += sum_between(in, 0, BLOCK_START(i));
}

/* The second kernel sums the input again, which the first kernel has overwritten if the scan is in
 * place. */
extern "C" cudaError_t carries_in_place(void *out, const void *in, size_t n, int, void *,
                                        cudaStream_t stream)
{
    scan_blocks<<<(unsigned)BLOCKS(n), 1, 0, stream>>>((float *)out, (const float *)in, n);
    add_carries<<<1, 1, 0, stream>>>((float *)out, (const float *)in, n);
    return cudaGetLastError();
}

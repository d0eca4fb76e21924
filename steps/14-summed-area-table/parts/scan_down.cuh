/*
 * scan_down.cuh — the second kernel: exclusive scans down the columns of three small matrices, in
 * place. The matrices have the sums that sum_tiles has stored. Each sum becomes the sum of those
 * above it in its column.
 */
#ifndef STEP14_SCAN_DOWN_CUH
#define STEP14_SCAN_DOWN_CUH

#include "strip.cuh"

#define DOWN_WARPS 16 // of a block
#define DOWN_ROWS  16 // that a thread takes at a time
#define DOWN_CHUNK (DOWN_WARPS * DOWN_ROWS)

/* Blocks on a multiprocessor at a time. One of Turing holds 1024 threads. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ == 750
#define DOWN_BLOCKS 2
#else
#define DOWN_BLOCKS 3
#endif

template <typename Sum> struct matrix {
    Sum *at;
    size_t rows, columns; // a row begins `columns` after the one before
};

/* Three matrices, and how many blocks each of the first two has. */
template <typename Sum> struct matrices {
    matrix<Sum> first, second, third;
    unsigned blocks_of_first, blocks_of_second;
};

/* The matrix that a block has a part of; *block becomes the number of that part. */
template <typename Sum>
static __device__ matrix<Sum> matrix_of(const matrices<Sum> &all, unsigned *block)
{
    if (*block < all.blocks_of_first) return all.first;
    *block -= all.blocks_of_first;
    if (*block < all.blocks_of_second) return all.second;
    *block -= all.blocks_of_second;
    return all.third;
}

/* The columns of a matrix that a block scans. The warps share 32 columns of a high matrix; of a low
 * one each warp takes 32 by itself. */
static __host__ __device__ int columns_of_block(size_t rows)
{
    return rows <= DOWN_ROWS ? DOWN_WARPS * LANES : LANES;
}

/*
 * Each lane has a column, and takes DOWN_ROWS neighbouring rows of it at a time. Where warps share
 * columns, they exchange the sums of their rows through shared memory.
 */
template <typename Sum>
static __global__ void __launch_bounds__(DOWN_WARPS *LANES, DOWN_BLOCKS)
    scan_down(matrices<Sum> all)
{
    __shared__ Sum partial[DOWN_WARPS][LANES];
    unsigned block = blockIdx.x;
    const matrix<Sum> m = matrix_of(all, &block);
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    bool alone = columns_of_block(m.rows) > LANES; // the warp has its columns for itself
    size_t column =
        alone ? (size_t)block * DOWN_WARPS * LANES + threadIdx.x : (size_t)block * LANES + lane;
    Sum carry = 0;

    wait_for_kernel_before(); // which stores the sums
    for (size_t chunk = 0; chunk < m.rows; chunk += DOWN_CHUNK) {
        size_t first = chunk + (alone ? 0 : warp * DOWN_ROWS);
        bool any = column < m.columns && first < m.rows;
        int rows = any ? at_most(m.rows - first, DOWN_ROWS) : 0; // that this thread has
        Sum *at = m.at + first * m.columns + column;
        Sum v[DOWN_ROWS], sum = 0, before = carry;
#pragma unroll
        for (int i = 0; i < DOWN_ROWS; i++) v[i] = i < rows ? at[i * m.columns] : 0;
        if (!alone) {
#pragma unroll
            for (int i = 0; i < DOWN_ROWS; i++) sum += v[i];
            partial[warp][lane] = sum;

            // No sum may be read before all warps have stored theirs.
            __syncthreads();

            for (int w = 0; w < DOWN_WARPS; w++) {
                if (w < warp) before += partial[w][lane];
                carry += partial[w][lane];
            }
        }
#pragma unroll
        for (int i = 0; i < DOWN_ROWS; i++) {
            if (i < rows) at[i * m.columns] = before;
            before += v[i];
        }

        // The next chunk's sums may not replace these before all warps have read them.
        __syncthreads();
    }
}

#endif

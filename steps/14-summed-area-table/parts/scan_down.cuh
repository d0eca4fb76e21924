/*
 * scan_down.cuh — the second kernel: exclusive scans down the columns of three small matrices, in
 * place. They are the sums that sum_tiles has left, and a column of them becomes what lies before
 * each tile.
 */
#ifndef STEP14_SCAN_DOWN_CUH
#define STEP14_SCAN_DOWN_CUH

#include "strip.cuh"

#define DOWN_WARPS 16 // of a block
#define DOWN_ROWS  16 // that a thread takes at a time
#define DOWN_CHUNK (DOWN_WARPS * DOWN_ROWS)

template <typename Sum> struct matrix {
    Sum *at;
    size_t rows, columns; // a row begins `columns` after the one before
};

/* Three matrices, and how many blocks each of the first two has. */
template <typename Sum> struct matrices {
    matrix<Sum> m[3];
    unsigned blocks[2];
};

/*
 * A block scans 32 columns, a lane each. Its warps take DOWN_ROWS neighbouring rows each, and tell
 * each other the sums of these in shared memory.
 */
template <typename Sum>
static __global__ void __launch_bounds__(DOWN_WARPS *LANES) scan_down(matrices<Sum> all)
{
    __shared__ Sum partial[DOWN_WARPS][LANES];
    unsigned block = blockIdx.x;
    int which = 0;
    while (which < 2 && block >= all.blocks[which]) block -= all.blocks[which++];
    const matrix<Sum> m = all.m[which];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    size_t column = (size_t)block * LANES + lane;
    Sum *at = m.at + column, carry = 0;

    for (size_t chunk = 0; chunk < m.rows; chunk += DOWN_CHUNK) {
        size_t first = chunk + warp * DOWN_ROWS;
        Sum v[DOWN_ROWS], sum = 0, before = carry;
#pragma unroll
        for (int i = 0; i < DOWN_ROWS; i++)
            v[i] = column < m.columns && first + i < m.rows ? at[(first + i) * m.columns] : 0;
#pragma unroll
        for (int i = 0; i < DOWN_ROWS; i++) sum += v[i];
        partial[warp][lane] = sum;

        // No sum may be read before all warps have stored theirs.
        __syncthreads();

        for (int w = 0; w < DOWN_WARPS; w++) {
            if (w < warp) before += partial[w][lane];
            carry += partial[w][lane];
        }
#pragma unroll
        for (int i = 0; i < DOWN_ROWS; i++) {
            if (column < m.columns && first + i < m.rows) at[(first + i) * m.columns] = before;
            before += v[i];
        }

        // The next chunk's sums may not replace these before all warps have read them.
        __syncthreads();
    }
}

#endif

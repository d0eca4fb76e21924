/*
 * sums.cuh — the first two kernels: sum_tiles adds up each tile's columns, its rows, and all of it;
 * scan_down turns these sums into what lies above and left of each tile.
 */
#ifndef STEP14_SUM_TILES_CUH
#define STEP14_SUM_TILES_CUH

#include "strip.cuh"

/* ---- sum_tiles ------------------------------------------------------------------------------- */

/* The sums of four columns, and of the rows of a picture of one channel. */
template <typename Pixel> struct tally {
    typedef typename quad<Pixel>::sum Sum;
    Sum column[QUAD];

    __device__ void clear()
    {
        for (int k = 0; k < QUAD; k++) column[k] = 0;
    }
    __device__ void add(typename quad<Pixel>::raw v)
    {
        for (int k = 0; k < QUAD; k++) column[k] += quad<Pixel>::sample(v, k);
    }
    __device__ Sum get(int k) const { return column[k]; }

    static __device__ Sum add_to_row(Sum row, typename quad<Pixel>::raw v)
    {
        for (int k = 0; k < QUAD; k++) row += quad<Pixel>::sample(v, k);
        return row;
    }
    static __device__ Sum row_value(Sum row) { return row; }
};

/* Bytes are added two at a time, in the halves of a word: 32 rows of 255 stay below 2^16, and so do
 * the 2 * 4 samples that a lane takes of a row. */
template <> struct tally<uint8_t> {
    uint32_t even, odd; // columns 0 and 2, columns 1 and 3

    static __device__ uint32_t halves(uint32_t v) { return v & 0x00ff00ff; }

    __device__ void clear() { even = odd = 0; }
    __device__ void add(uint32_t v)
    {
        even += halves(v);
        odd += halves(v >> 8);
    }
    __device__ uint32_t get(int k) const
    {
        return (k % 2 ? odd : even) >> (k < 2 ? 0 : 16) & 0xffff;
    }

    static __device__ uint32_t add_to_row(uint32_t row, uint32_t v)
    {
        return row + halves(v) + halves(v >> 8);
    }
    static __device__ uint32_t row_value(uint32_t row) { return (row & 0xffff) + (row >> 16); }
};

/* What a lane takes of one row. */
template <typename Pixel, int CHANNELS> struct row_quads {
    typename quad<Pixel>::raw at[strip<CHANNELS>::GROUPS][strip<CHANNELS>::QUADS];
};

/* `there`: the row is one of the picture. Otherwise all its samples are 0. */
template <bool ALIGNED, typename Pixel, int CHANNELS>
static __device__ void load_row(row_quads<Pixel, CHANNELS> &to, const Pixel *row, int lane,
                                int rest, bool there)
{
    typedef strip<CHANNELS> s;
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int q = 0; q < s::QUADS; q++)
            to.at[g][q] = load_quad<ALIGNED>(row, s::place(g, lane, q), there ? rest : 0);
}

/* The sums of what the lane has of one row, each channel by itself. */
template <typename Pixel, int CHANNELS>
static __device__ void add_row(typename quad<Pixel>::sum to[CHANNELS],
                               const row_quads<Pixel, CHANNELS> &row)
{
    typedef strip<CHANNELS> s;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) to[c] = 0;
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int q = 0; q < s::QUADS; q++) {
            if constexpr (CHANNELS == 1) {
                to[0] = tally<Pixel>::add_to_row(to[0], row.at[g][q]);
            } else {
#pragma unroll
                for (int k = 0; k < QUAD; k++)
                    to[(q * QUAD + k) % CHANNELS] += quad<Pixel>::sample(row.at[g][q], k);
            }
        }
    if (CHANNELS == 1) to[0] = tally<Pixel>::row_value(to[0]);
}

/*
 * Warp w of the grid sums tile w; tiles are numbered along each row of tiles. Lane l keeps the sum
 * of the tile's row l. The last block may have warps without a tile.
 */
template <bool ALIGNED, typename Pixel, int CHANNELS>
static __global__ void __launch_bounds__(WARPS *LANES,
                                         in_flight<Pixel, CHANNELS, ALIGNED>::BLOCKS_OF_SUMS)
    sum_tiles(const Pixel *pixels, struct sums<typename quad<Pixel>::sum> t)
{
    typedef strip<CHANNELS> s;
    typedef typename quad<Pixel>::sum Sum;
    int lane = threadIdx.x % LANES;
    size_t tile = (size_t)blockIdx.x * WARPS + threadIdx.x / LANES;
    if (tile >= t.tile_columns * t.tile_rows) return;
    size_t tile_row = tile / t.tile_columns, tile_column = tile % t.tile_columns;
    size_t first_sample = tile_column * s::SAMPLES, first_row = tile_row * t.tile_height;
    int rest = at_most(t.samples - first_sample, s::SAMPLES);
    const Pixel *row = pixels + first_row * t.samples + first_sample;

    tally<Pixel> columns[s::GROUPS][s::QUADS];
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int q = 0; q < s::QUADS; q++) columns[g][q].clear();
    Sum own_row[CHANNELS] = {};
    const int AHEAD = in_flight<Pixel, CHANNELS, ALIGNED>::ROWS_OF_SUMS;
    // From the last row to the first: write_table begins with the first, which may still be in L2.
    for (int first = t.tile_height - AHEAD; first >= 0; first -= AHEAD) {
        row_quads<Pixel, CHANNELS> rows[AHEAD];
#pragma unroll
        for (int r = 0; r < AHEAD; r++)
            load_row<ALIGNED>(rows[r], row + (first + r) * t.samples, lane, rest,
                              first_row + first + r < t.height);
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            Sum sum[CHANNELS];
            add_row(sum, rows[r]);
#pragma unroll
            for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
                for (int q = 0; q < s::QUADS; q++) columns[g][q].add(rows[r].at[g][q]);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                Sum all = warp_sum(sum[c]);
                if (lane == first + r) own_row[c] = all;
            }
        }
    }

    Sum *column_sums = t.columns + tile_row * t.column_pitch + first_sample;
    int columns_left = at_most(t.column_pitch - first_sample, s::SAMPLES);
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int q = 0; q < s::QUADS; q++) {
            int at = s::place(g, lane, q);
            Sum sum[QUAD];
#pragma unroll
            for (int k = 0; k < QUAD; k++) sum[k] = columns[g][q].get(k);
            // nvcc takes a plain assignment apart into four stores.
            if (at < columns_left)
                __stcg((typename four<Sum>::access *)(column_sums + at), four_of(sum));
        }
    for (int c = 0; c < CHANNELS; c++) {
        Sum *row_sums = t.rows + (tile_column * CHANNELS + c) * t.row_pitch + first_row;
        if (lane < t.tile_height) row_sums[lane] = own_row[c];
        Sum all = warp_sum(own_row[c]);
        if (lane == 0) t.tiles[tile_row * t.tile_pitch + tile_column * CHANNELS + c] = all;
    }
}

/* ---- scan_down ------------------------------------------------------------------------------- */

/*
 * The second kernel: exclusive scans down the columns of three small matrices, in
 * place. The matrices have the sums that sum_tiles has stored. Each sum becomes the sum of those
 * above it in its column.
 */

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

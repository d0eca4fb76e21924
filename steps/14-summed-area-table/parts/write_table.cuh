/*
 * write_table.cuh — the third kernel: each warp reads its tile again, and writes the table.
 *
 * A lane keeps, for each of its columns x, the table's entry in the row above. To get the next row
 * it adds what this row has up to x: what lies left of the strip, other lanes' samples, and its
 * own.
 */
#ifndef STEP14_WRITE_TABLE_CUH
#define STEP14_WRITE_TABLE_CUH

#include "sums.cuh"

/* Scans over the lanes: `before` gets the sum of the lower lanes, and the sum of all is
 * returned. */
template <typename Sum> static __device__ Sum scan_lanes(Sum own, int lane, Sum *before)
{
    Sum sum = own;
#pragma unroll
    for (int distance = 1; distance < LANES; distance *= 2) {
        Sum lower = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane >= distance) sum += lower;
    }
    Sum shifted = __shfl_up_sync(ALL_LANES, sum, 1);
    *before = lane > 0 ? shifted : 0;
    return __shfl_sync(ALL_LANES, sum, LANES - 1);
}

/* Scans the lanes' sums as scan_lanes does, COUNT at a time. If PACKED, none of their totals
 * reaches 2^16, and two of them are scanned in the halves of a word. */
template <bool PACKED, int COUNT, typename Sum>
static __device__ void scan_all(Sum own[COUNT], int lane, Sum before[COUNT])
{
    if constexpr (PACKED) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 2) {
            Sum high = i + 1 < COUNT ? own[i + 1] : 0, lower;
            Sum total = scan_lanes(own[i] | high << 16, lane, &lower);
            own[i] = total & 0xffff, before[i] = lower & 0xffff;
            if (i + 1 < COUNT) own[i + 1] = total >> 16, before[i + 1] = lower >> 16;
        }
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++) own[i] = scan_lanes(own[i], lane, &before[i]);
    }
}

/*
 * Adds to each entry above[g][k] the sum of the row's samples v[g][…] of this channel up to there,
 * and `left`, what lies left of the strip. v is overwritten.
 */
template <int CHANNELS, bool PACKED, typename Sum>
static __device__ void add_prefixes(Sum above[][strip<CHANNELS>::TAKES],
                                    Sum v[][strip<CHANNELS>::TAKES], const Sum left[CHANNELS],
                                    int lane)
{
    typedef strip<CHANNELS> s;
    Sum total[s::GROUPS * CHANNELS], before[s::GROUPS * CHANNELS], base[CHANNELS];
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++) {
#pragma unroll
        for (int k = CHANNELS; k < s::TAKES; k++) v[g][k] += v[g][k - CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) total[g * CHANNELS + c] = v[g][s::TAKES - CHANNELS + c];
    }
    scan_all<PACKED, s::GROUPS * CHANNELS>(total, lane, before);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) base[c] = left[c];
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++) {
#pragma unroll
        for (int k = 0; k < s::TAKES; k++) {
            int c = k % CHANNELS;
            above[g][k] += v[g][k] + (base[c] + before[g * CHANNELS + c]);
        }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) base[c] += total[g * CHANNELS + c];
    }
}

/* The table's entries in the row above the tile: what lies above each column, summed up over x, and
 * what lies above and left of the tile. */
template <int CHANNELS, typename Sum>
static __device__ void load_above(Sum above[][strip<CHANNELS>::TAKES], const sums<Sum> &t,
                                  size_t tile_row, size_t tile_column, int lane)
{
    typedef strip<CHANNELS> s;
    Sum columns[s::GROUPS][s::TAKES], corner[CHANNELS] = {};
    const Sum *sum = t.columns + tile_row * t.column_pitch + tile_column * s::SAMPLES;
    int rest = at_most(t.column_pitch - tile_column * s::SAMPLES, s::SAMPLES);
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int q = 0; q < s::QUADS; q++) {
            typename four<Sum>::access v = {0, 0, 0, 0};
            int at = s::place(g, lane, q);
            if (at < rest) v = *(const typename four<Sum>::access *)(sum + at);
            Sum *to = &columns[g][q * QUAD];
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
#pragma unroll
    for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
        for (int k = 0; k < s::TAKES; k++) above[g][k] = 0;
    for (size_t left = lane; left < tile_column; left += LANES)
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            corner[c] += t.tiles[tile_row * t.tile_pitch + left * CHANNELS + c];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) corner[c] = warp_sum(corner[c]);
    add_prefixes<CHANNELS, false>(above, columns, corner, lane);
}

/*
 * Where a lane has three neighbouring quads, 3l, 3l + 1 and 3l + 2, it gets the quads l, 32 + l and
 * 64 + l instead, so that neighbouring lanes store neighbouring quads. It is the opposite of
 * transpose_words in document.cuh: in turn k lane l gives its k-th quad, number 3l + k, to lane
 * (3l + k) % 32. Lane m gets it from l = 11 (m - k) modulo 32, since 3 * 11 = 33.
 */
template <typename Sum> static __device__ void spread(Sum quads[3][QUAD], const Sum own[], int lane)
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        int from = 11 * (lane - k + LANES) % LANES, place = (3 * from + k) / LANES;
#pragma unroll
        for (int i = 0; i < QUAD; i++) {
            Sum got = __shfl_sync(ALL_LANES, own[k * QUAD + i], from);
#pragma unroll
            for (int p = 0; p < 3; p++)
                if (place == p) quads[p][i] = got;
        }
    }
}

/* Stores what the lane has of a row of the table. */
template <bool ALIGNED, int CHANNELS, typename Sum>
static __device__ void store_row(Sum *row, const Sum v[][strip<CHANNELS>::TAKES], int lane,
                                 int rest)
{
    typedef strip<CHANNELS> s;
    if constexpr (ALIGNED && CHANNELS == 3) {
        Sum quads[3][QUAD];
        spread(quads, v[0], lane);
#pragma unroll
        for (int p = 0; p < 3; p++)
            store_quad<true>(row, (p * LANES + lane) * QUAD, rest, quads[p]);
    } else {
#pragma unroll
        for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
            for (int q = 0; q < s::QUADS; q++)
                store_quad<ALIGNED>(row, s::place(g, lane, q), rest, &v[g][q * QUAD]);
    }
}

/*
 * Warps take tiles in the opposite order of sum_tiles: what that has read last may still be in L2.
 */
template <bool ALIGNED, typename Pixel, int CHANNELS>
static __global__ void __launch_bounds__(WARPS *LANES,
                                         in_flight<Pixel, CHANNELS, ALIGNED>::BLOCKS_OF_TABLE)
    write_table(typename quad<Pixel>::sum *table, const Pixel *pixels,
                struct sums<typename quad<Pixel>::sum> t)
{
    typedef strip<CHANNELS> s;
    typedef typename quad<Pixel>::sum Sum;
    int lane = threadIdx.x % LANES;
    size_t tiles = t.tile_columns * t.tile_rows;
    size_t turn = (size_t)blockIdx.x * WARPS + threadIdx.x / LANES;
    if (turn >= tiles) return;
    size_t tile = tiles - 1 - turn;
    size_t tile_row = tile / t.tile_columns, tile_column = tile % t.tile_columns;
    size_t first_sample = tile_column * s::SAMPLES, first_row = tile_row * t.tile_height;
    int rest = at_most(t.samples - first_sample, s::SAMPLES);
    size_t place = first_row * t.samples + first_sample;

    Sum above[s::GROUPS][s::TAKES], own_left[CHANNELS];
    wait_for_kernel_before(); // which scans the sums
    load_above<CHANNELS>(above, t, tile_row, tile_column, lane);
    for (int c = 0; c < CHANNELS; c++) {
        const Sum *left = t.rows + (tile_column * CHANNELS + c) * t.row_pitch + first_row;
        own_left[c] = lane < t.tile_height ? left[lane] : 0;
    }

    const int AHEAD = in_flight<Pixel, CHANNELS, ALIGNED>::ROWS_OF_TABLE;
    for (int first = 0; first < t.tile_height; first += AHEAD) {
        row_quads<Pixel, CHANNELS> rows[AHEAD];
#pragma unroll
        for (int r = 0; r < AHEAD; r++)
            load_row<ALIGNED>(rows[r], pixels + place + (first + r) * t.samples, lane, rest,
                              first_row + first + r < t.height);
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            Sum v[s::GROUPS][s::TAKES], left[CHANNELS];
            if (first_row + first + r >= t.height) return;
#pragma unroll
            for (int g = 0; g < s::GROUPS; g++)
#pragma unroll
                for (int k = 0; k < s::TAKES; k++)
                    v[g][k] = quad<Pixel>::sample(rows[r].at[g][k / QUAD], k % QUAD);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                left[c] = __shfl_sync(ALL_LANES, own_left[c], first + r);
            add_prefixes<CHANNELS, sizeof(Pixel) == 1>(above, v, left, lane);
            store_row<ALIGNED, CHANNELS>(table + place + (first + r) * t.samples, above, lane,
                                         rest);
        }
    }
}

#endif

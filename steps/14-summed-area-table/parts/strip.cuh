/*
 * strip.cuh — how pictures are cut: a tile is a strip of a few hundred samples of each of 8,
 * 16 or 32 rows, the work of one warp.
 */
#ifndef STEP14_STRIP_CUH
#define STEP14_STRIP_CUH

#include "common/step/gpu.cuh"

#include <stddef.h>
#include <stdint.h>

#define LANES     32
#define ALL_LANES 0xffffffffu
#define WARPS     4  // tiles of a block
#define ROWS_MOST 32 // rows of a tile: one a lane, where row sums are kept
#define ROWS_LEAST 8
#define QUAD      4  // samples that are loaded, and sums that are stored, together

/* How many rows a warp loads before it uses the first, and how many blocks of a kernel have to fit
 * on a multiprocessor at a time, which limits a thread's registers (1 asks for nothing). Rows of
 * bytes of one channel take few registers, so 8 of them are in flight. By trial on an H200. */
template <typename Pixel, int CHANNELS, bool ALIGNED> struct in_flight {
    static const bool WORDS = ALIGNED && CHANNELS == 1 && sizeof(Pixel) == 1;
    static const int ROWS_OF_SUMS = sizeof(Pixel) == 1 ? 8 : 4, BLOCKS_OF_SUMS = WORDS ? 6 : 1;
    static const int ROWS_OF_TABLE = WORDS ? 8 : 2, BLOCKS_OF_TABLE = WORDS ? 4 : 1;
};

/* In a strip of a row, a lane takes VECTOR neighbouring pixels of each group. Neighbouring lanes
 * take neighbouring vectors, so a warp's accesses are coalesced. */
template <int CHANNELS> struct strip {
    static const int VECTOR = CHANNELS == 4 ? 1 : 4;
    static const int TAKES = VECTOR * CHANNELS; // samples, a multiple of QUAD
    static const int QUADS = TAKES / QUAD;
    static const int GROUPS = CHANNELS == 3 ? 1 : 4;
    static const int SAMPLES = GROUPS * LANES * TAKES;

    /* The first sample of a lane's quad in the strip. */
    static __device__ int place(int group, int lane, int quad)
    {
        return (group * LANES + lane) * TAKES + quad * QUAD;
    }
};

/* Four samples as they are loaded, and as numbers to be added. */
template <typename Pixel> struct quad;

template <> struct quad<uint8_t> {
    typedef uint32_t raw;
    typedef uint32_t sum;
    static __device__ raw zero() { return 0; }
    static __device__ raw make(const uint8_t s[QUAD])
    {
        return s[0] | s[1] << 8 | s[2] << 16 | (uint32_t)s[3] << 24;
    }
    static __device__ sum sample(raw v, int k) { return v >> (8 * k) & 0xff; }
};

template <> struct quad<uint16_t> {
    typedef uint2 raw;
    typedef uint32_t sum;
    static __device__ raw zero() { return make_uint2(0, 0); }
    static __device__ raw make(const uint16_t s[QUAD])
    {
        return make_uint2(s[0] | (uint32_t)s[1] << 16, s[2] | (uint32_t)s[3] << 16);
    }
    static __device__ sum sample(raw v, int k)
    {
        return (k < 2 ? v.x : v.y) >> (16 * (k % 2)) & 0xffff;
    }
};

template <> struct quad<float> {
    typedef float4 raw;
    typedef float sum;
    static __device__ raw zero() { return make_float4(0, 0, 0, 0); }
    static __device__ raw make(const float s[QUAD]) { return make_float4(s[0], s[1], s[2], s[3]); }
    static __device__ sum sample(raw v, int k)
    {
        return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
    }
};

/* The samples at places [at, at + QUAD) of a row of which `rest` samples are left; those beyond are
 * 0. If ALIGNED, `rest` is a multiple of QUAD and the row is aligned to a quad. */
template <bool ALIGNED, typename Pixel>
static __device__ typename quad<Pixel>::raw load_quad(const Pixel *row, int at, int rest)
{
    if constexpr (ALIGNED) {
        return at < rest ? *(const typename quad<Pixel>::raw *)(row + at) : quad<Pixel>::zero();
    } else {
        Pixel s[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; k++) s[k] = at + k < rest ? row[at + k] : 0;
        return quad<Pixel>::make(s);
    }
}

/* Four sums as one access. */
template <typename Sum> struct four;
template <> struct four<uint32_t> {
    typedef uint4 access;
};
template <> struct four<float> {
    typedef float4 access;
};

template <typename Sum> static __device__ typename four<Sum>::access four_of(const Sum s[QUAD])
{
    return {s[0], s[1], s[2], s[3]};
}

/* Stores sums likewise. */
template <bool ALIGNED, typename Sum>
static __device__ void store_quad(Sum *row, int at, int rest, const Sum s[QUAD])
{
    if constexpr (ALIGNED) {
        if (at < rest) __stcg((typename four<Sum>::access *)(row + at), four_of(s));
    } else {
#pragma unroll
        for (int k = 0; k < QUAD; k++)
            if (at + k < rest) row[at + k] = s[k];
    }
}

/* How many of `most` samples there are, if `left` of them lie ahead: a small number. */
static __device__ int at_most(size_t left, int most)
{
    return left < (size_t)most ? (int)left : most;
}

/* The sum over the lanes, for all of them. */
static __device__ uint32_t warp_sum(uint32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, v);
#else
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, distance);
    return v;
#endif
}
static __device__ float warp_sum(float v)
{
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, distance);
    return v;
}

/* Three tables of sums in the workspace; all are of `tile_rows` or `tile_columns` rows. */
template <typename Sum> struct sums {
    size_t samples, height;         // of the picture: samples in a row, rows
    size_t tile_columns, tile_rows; // tiles
    size_t column_pitch;            // samples, rounded up to a quad
    int tile_height;                // rows of a tile
    size_t row_pitch;               // tile_rows * tile_height
    size_t tile_pitch;              // tile_columns * channels
    Sum *columns;                   // [tile row][sample]: of a column's samples in the tile
    Sum *rows;                      // [tile column][channel][row]: of a row's samples in the tile
    Sum *tiles;                     // [tile row][tile column][channel]
};

#endif

/*
 * Step 14, variant fast: summed-area tables without a transposition.
 *
 * What it is: three launches. sum_tiles adds up the rows and columns of tiles; scan_down turns
 * these few sums into what lies above and left of each tile; write_table reads each tile again, and
 * writes the table.
 * Same as variant document except: no array of the table's size is written but the table itself.
 * Bytes are added as integers. The columns need no scan of their own: a lane goes down its columns
 * and keeps the table's entries of the row above. A small grey picture takes one launch
 * (cluster.cuh).
 * What it fixes: for a pixel of RGB this moves 19.5 bytes (with tiles of 32 rows), where the
 * document moves 115.
 * What is still bad: the pixels are read twice. A table whose rows are not a multiple of four
 * samples is written word by word. A picture that is narrower than a strip leaves lanes without
 * work.
 * How to run it: make step14 && ./step14 --size 512x512, or as a library: sat.h.
 */
#include "common/step/launch_kernel.cuh"
#include "parts/cluster.cuh"
#include "parts/sums.cuh"
#include "parts/write_table.cuh"
#include "sat.h"
#include "step14.h"
#include "common/step/gpu.cuh"

static size_t divide_up(size_t n, size_t by) { return (n + by - 1) / by; }
static size_t round_up(size_t n, size_t to) { return divide_up(n, to) * to; }

static_assert(strip<1>::SAMPLES == strip<4>::SAMPLES, "strips of grey and RGBA are as wide");
static size_t strip_samples(unsigned channels)
{
    return (size_t)(channels == 3 ? strip<3>::SAMPLES : strip<4>::SAMPLES);
}

/* Tiles that keep an H200 busy, by trial. */
#define TILES_WANTED 2048

/* The rows of a tile: as many as possible, since a tile's column sums are written and read again,
 * but fewer where there would be too few tiles. */
static int tile_height(struct sat_size size)
{
    size_t columns = divide_up(size.width * size.channels, strip_samples(size.channels));
    int height = ROWS_MOST;
    while (height > ROWS_LEAST && columns * divide_up(size.height, height) < TILES_WANTED)
        height /= 2;
    return height;
}

/* The tables of sums for a picture, in this workspace; *bytes is what they take. */
template <typename Sum>
static struct sums<Sum> divide(struct sat_size size, void *workspace, size_t *bytes) {
    struct sums<Sum> t;
    t.samples = size.width * size.channels, t.height = size.height;
    t.tile_columns = divide_up(t.samples, strip_samples(size.channels));
    t.tile_height = tile_height(size);
    t.tile_rows = divide_up(size.height, t.tile_height);
    t.column_pitch = round_up(t.samples, QUAD);
    t.row_pitch = t.tile_rows * t.tile_height;
    t.tile_pitch = t.tile_columns * size.channels;
    t.columns = (Sum *)workspace;
    t.rows = t.columns + t.tile_rows * t.column_pitch;
    t.tiles = t.rows + t.tile_pitch * t.row_pitch;
    *bytes = (size_t)((char *)(t.tiles + t.tile_rows * t.tile_pitch) - (char *)workspace);
    return t;
}

template <typename Sum>
static cudaError_t launch_scan_down(const struct sums<Sum> &t, const struct gpu *gpu,
                                    cudaStream_t stream)
{
    size_t channels = t.tile_pitch / t.tile_columns;
    size_t row = channels * t.row_pitch; // all channels of a tile column are one row
    size_t columns = divide_up(t.column_pitch, columns_of_block(t.tile_rows));
    size_t rows = divide_up(row, columns_of_block(t.tile_columns));
    size_t blocks = columns + rows + divide_up(t.tile_pitch, columns_of_block(t.tile_rows));
    matrices<Sum> all = {{t.columns, t.tile_rows, t.column_pitch},
                         {t.rows, t.tile_columns, row},
                         {t.tiles, t.tile_rows, t.tile_pitch},
                         (unsigned)columns,
                         (unsigned)rows};
    return launch_after(gpu, scan_down<Sum>, blocks, DOWN_WARPS * LANES, 0, stream, all);
}

template <bool ALIGNED, int CHANNELS, typename Pixel, typename Sum>
static cudaError_t launch(Sum *table, const Pixel *pixels, const struct sums<Sum> &t,
                          const struct gpu *gpu, cudaStream_t stream)
{
    size_t blocks = divide_up(t.tile_columns * t.tile_rows, WARPS);
    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // beyond any grid
    CUDA_TRY(launch_kernel(sum_tiles<ALIGNED, Pixel, CHANNELS>, (unsigned)blocks, WARPS * LANES, 0,
                           stream, pixels, t));
    CUDA_TRY(launch_scan_down(t, gpu, stream));
    return launch_after(gpu, write_table<ALIGNED, Pixel, CHANNELS>, blocks, WARPS * LANES, 0,
                        stream, table, pixels, t);
}

bool sat_takes_clusters(struct sat_size size)
{
    struct gpu gpu;
    return size.channels == 1 && size.width <= CLUSTER_SIDE && size.height <= CLUSTER_SIDE &&
           look_at_gpu(&gpu) == cudaSuccess && gpu.capability >= 90;
}

double sat_pixels_of_clusters(struct sat_size size)
{
    double left = 0;
    for (size_t strip = BAND_COLUMNS; strip < size.width; strip += BAND_COLUMNS)
        left += (double)strip;
    return (left + (double)size.width) * (double)size.height;
}

template <bool ALIGNED, typename Pixel, typename Sum>
static cudaError_t launch_channels(Sum *table, const Pixel *pixels, const struct sums<Sum> &t,
                                   unsigned channels, cudaStream_t stream)
{
    struct gpu gpu;
    CUDA_TRY(look_at_gpu(&gpu));
    if (sat_takes_clusters({t.samples / channels, t.height, channels}))
        return launch_clusters<ALIGNED>(table, pixels, t.samples, t.height, stream);
    if (channels == 1) return launch<ALIGNED, 1>(table, pixels, t, &gpu, stream);
    if (channels == 3) return launch<ALIGNED, 3>(table, pixels, t, &gpu, stream);
    return launch<ALIGNED, 4>(table, pixels, t, &gpu, stream);
}

/* The two-phase call of sat.h. */
template <typename Pixel, typename Sum>
static cudaError_t make_table(void *workspace, size_t *bytes, Sum *table, const Pixel *pixels,
                              struct sat_size size, cudaStream_t stream)
{
    size_t needed;
    if (!sat_size_is_valid(size)) return cudaErrorInvalidValue;
    struct sums<Sum> t = divide<Sum>(size, workspace, &needed);
    if (workspace == NULL) {
        *bytes = needed;
        return cudaSuccess;
    }
    if (size.width == 0 || size.height == 0) return cudaSuccess;
    if (*bytes < needed || (uintptr_t)workspace % 16) return cudaErrorInvalidValue;
    bool aligned = t.samples % QUAD == 0 && (uintptr_t)pixels % (QUAD * sizeof(Pixel)) == 0 &&
                   (uintptr_t)table % (QUAD * sizeof(Sum)) == 0;
    return aligned ? launch_channels<true>(table, pixels, t, size.channels, stream)
                   : launch_channels<false>(table, pixels, t, size.channels, stream);
}

#define TABLES(name, Pixel, Sum)                                                                   \
    cudaError_t sat_##name(void *workspace, size_t *bytes, Sum *table, const Pixel *pixels,        \
                           struct sat_size size, cudaStream_t stream)                              \
    {                                                                                              \
        return make_table(workspace, bytes, table, pixels, size, stream);                          \
    }
TABLES(u8, uint8_t, uint32_t)
TABLES(u16, uint16_t, uint32_t)
TABLES(f32, float, float)

/* Sums down `rows` rows of a small matrix: those of other chunks, of other warps, and its own. */
static double depth_down(size_t rows)
{
    return (double)divide_up(rows, DOWN_CHUNK) * DOWN_WARPS + 2 * DOWN_ROWS;
}

/* The depth of three launches. One launch of clusters has less: at most 88 additions, where this
 * says 104. A sample joins its vector (up to 4), the lanes (5), the groups (4) and the row left of
 * it; the
 * rows of a tile are added; and so are the sums above, which are made of as many rows, scanned
 * down, and then over x like a row. Those of the tiles above and left come of row sums. */
double sat_depth(struct sat_size size)
{
    size_t tile_columns = divide_up(size.width * size.channels, strip_samples(size.channels));
    size_t tile_rows = divide_up(size.height, tile_height(size));
    double in_row = 4 + 5 + 4 + 2, lanes = 5, rows = tile_height(size);
    double left = in_row + lanes + depth_down(tile_columns);
    double above = rows + depth_down(tile_rows) + in_row;
    double corner = in_row + 2 * lanes + depth_down(tile_rows) +
                    (double)divide_up(tile_columns, LANES) + lanes + in_row;
    double most = left > above ? left : above;
    return (most > corner ? most : corner) + rows + 2;
}

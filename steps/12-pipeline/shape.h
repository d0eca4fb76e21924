/*
 * shape.h — how elements are divided among tiles, segments and rows, and which kernel takes which n.
 *
 * A row is what the 32 lanes of a warp take with one access each, a segment what one warp scans, a
 * tile what one block scans at a time. These sizes fix the tree of additions, and with it every bit
 * of a sum of floats: the number of blocks, which of them gets which tile, and when, have no say.
 */
#ifndef STEP12_SHAPE_H
#define STEP12_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#define LANES 32

/* A lane takes as many neighbours at a time as give 16 bytes of sums. */
#define LANE_TAKES(sum_bytes) (16 / (sum_bytes))
#define ROW(sum_bytes)        (LANES * LANE_TAKES(sum_bytes))

/* A tile of scan_direct and scan_pipeline: 8192 sums of 4 bytes, 4096 of 8. */
#define TILE_ROWS       8
#define TILE_SEGMENTS   8
#define TILE(sum_bytes) (TILE_SEGMENTS * TILE_ROWS * ROW(sum_bytes))

/* scan_small: one cluster of blocks, of up to 32 segments each; 65536 sums of 4 bytes in all. */
#define SMALL_ROWS           2
#define SMALL_SEGMENTS       32
#define SMALL_BLOCKS         8
#define SMALL_MAX(sum_bytes) (SMALL_BLOCKS * SMALL_SEGMENTS * SMALL_ROWS * ROW(sum_bytes))

/* scan_direct takes this many tiles at most, where scan_pipeline can take more. */
#define DIRECT_MAX_TILES 128

/* Tiles of n elements whose sums have so many bytes. */
static inline size_t tiles_of(size_t n, size_t sum_bytes)
{
    return n / TILE(sum_bytes) + (n % TILE(sum_bytes) > 0);
}

/* Segments of each of scan_small's blocks: all have as many. */
static inline unsigned small_segments(size_t n, size_t sum_bytes)
{
    size_t each = (size_t)SMALL_BLOCKS * SMALL_ROWS * ROW(sum_bytes);
    return (unsigned)((n + each - 1) / each);
}

/* What one scan launches. */
enum kernel { KERNEL_SMALL, KERNEL_DIRECT, KERNEL_PIPELINE };

/* Which kernel takes n elements on a GPU of that compute capability (90 for 9.0). That of small n
 * and that of large n need Hopper, the latter also 16-byte alignment. scan_direct and scan_pipeline
 * add in the same order, scan_small in another. */
static inline enum kernel kernel_for(size_t n, size_t sum_bytes, int capability, bool aligned)
{
    if (capability >= 90 && n <= SMALL_MAX(sum_bytes)) return KERNEL_SMALL;
    if (capability >= 90 && aligned && tiles_of(n, sum_bytes) > DIRECT_MAX_TILES)
        return KERNEL_PIPELINE;
    return KERNEL_DIRECT;
}

#endif

/*
 * shape.h — how elements are divided among tiles, segments and rows, and which kernel takes which n.
 *
 * A row is what the 32 lanes of a warp take with one access each, a segment what one warp scans, a
 * tile what one block scans at a time. These sizes fix the tree of additions, and with it every bit
 * of a sum of floats: the number of blocks, which of them gets which tile, and when, have no say.
 */
#ifndef STEP12_SHAPE_H
#define STEP12_SHAPE_H

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

/* What one scan launches. */
enum { KERNEL_SMALL, KERNEL_DIRECT, KERNEL_PIPELINE };

#endif

/*
 * shape.h — how elements are divided among tiles, segments and rows, and how tiles are divided
 * among windows.
 *
 * A row is what the 32 lanes of a warp take with one access each. A segment is what one warp scans,
 * a tile what one block scans at a time. A window is the tiles whose sums are combined at a time. n
 * and the types fix these sizes, and with the sequences the tree of combinations.
 *
 * In a reverse scan everything is mirrored: tile 0 is the last one of the array, and so is each
 * segment, row, lane and element.
 */
#ifndef STEP16_SHAPE_H
#define STEP16_SHAPE_H

#include "steps/12-pipeline/parts/shape.h" /* LANES, LANE_TAKES, ROW */

#define SEGMENTS 8 /* in a tile */

/* Rows in a segment: few elements get small tiles, so that more blocks share the work. */
#define FEW_ROWS   2
#define MANY_ROWS  8
#define MOST_TILES 128 /* with FEW_ROWS; and, with MANY_ROWS, in direct.cuh on Hopper */

/* `widest`: bytes of an element of the widest array of the scan. A lane takes 16 bytes of it. */
#define TILE_WITH(rows, widest) ((size_t)SEGMENTS * (rows)*ROW(widest))

/* Tiles in a window: a lane holds the sums of WINDOW / LANES neighbours. */
#define WINDOW 128

static inline size_t tiles_with(size_t n, int rows, size_t widest)
{
    return n / TILE_WITH(rows, widest) + (n % TILE_WITH(rows, widest) > 0);
}

/* The rows of a segment in a scan of n elements. */
static inline int rows_for(size_t n, size_t widest)
{
    return tiles_with(n, FEW_ROWS, widest) <= MOST_TILES ? FEW_ROWS : MANY_ROWS;
}

/* The number of states in a workspace for n elements. They are enough for any fewer elements. */
static inline size_t states_needed(size_t n, size_t widest)
{
    size_t tiles = tiles_with(n, MANY_ROWS, widest);
    return (tiles < MOST_TILES ? MOST_TILES : tiles) + WINDOW;
}

#endif

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

/* Many elements: the tiles of scan_pipeline and scan_direct. `widest`: bytes of an element of the
 * widest array of the scan. A lane takes 16 bytes of it. */
#define SEGMENTS                8
#define MANY_ROWS               8
#define TILE_WITH(rows, widest) ((size_t)SEGMENTS * (rows)*ROW(widest))

/* Tiles in a window: a lane holds the sums of WINDOW / LANES neighbours. */
#define WINDOW 128

/* Few elements: scan_wave has a block for each tile. The fewer elements, the fewer segments in a
 * tile, so that more blocks share the work; but if one tile can hold them all, no block waits for
 * another one. Its windows have LANES tiles. The numbers were found by trial on an H200. */
#define WAVE_ROWS       2
#define WAVE_ALONE      16 /* segments of a tile that is the only one; */
#define WAVE_FINE       8  /* of others: at least as many as there are windows, and one more */
#define WAVE_MEDIUM   16
#define WAVE_COARSE     32
#define WAVE_SOME_TILES 64 /* fine or mid-sized ones */
#define WAVE_TILES      128

/* Short rows of an array: a tile of scan_rows has whole ones, and scans them apart from all other
 * tiles. It has about APART_SEGMENTS segments, and room for a row of 16 and for a line. */
#define APART_ROWS     4
#define APART_SEGMENTS 3
#define APART_MOST     17

/* Longer rows: up to PARTS_MOST blocks, a cluster, share a row; each takes a part of it as one
 * tile. Every GPU that has clusters takes 8. With more than LONG_TILES tiles scan_pipeline is
 * faster, by trial on an H200. */
#define PARTS_MOST 8
#define LONG_TILES 2048

/* Elements in a cache line, which has 128 bytes. */
#define LINE_TAKES(widest) (128 / (widest))

/* How n elements are divided, and for which kernels. */
enum tiles { TILES_APART, TILES_OF_ROW, TILES_OF_WAVE, MANY_TILES };
struct tiling {
    enum tiles kind;
    size_t tile, tiles; /* elements of a tile; their number */
    int segments, rows; /* of a tile; of a segment */
};

static inline size_t tiles_with(size_t n, size_t tile) { return n / tile + (n % tile > 0); }

static inline struct tiling wave_tiling(size_t n, int segments, size_t widest)
{
    size_t tile = (size_t)segments * WAVE_ROWS * ROW(widest);
    struct tiling t = {TILES_OF_WAVE, tile, tiles_with(n, tile), segments, WAVE_ROWS};
    return t;
}

/* Tiles of `count` rows of the array. A tile that does not begin with a line has places for what is
 * before it in the line. */
static inline struct tiling apart_tiling(size_t n, size_t row, size_t count, size_t widest)
{
    size_t segment = APART_ROWS * ROW(widest), tile = count * row;
    size_t places = tile + (tile % LINE_TAKES(widest) > 0 ? LINE_TAKES(widest) - 1 : 0);
    struct tiling t = {TILES_APART, tile, tiles_with(n, tile), (int)tiles_with(places, segment),
                       APART_ROWS};
    return t;
}

/* The least power of two of rows that end where `unit` elements do. */
static inline size_t rows_to_end(size_t row, size_t unit)
{
    size_t count = 1;
    while (count * row % unit > 0) count *= 2;
    return count;
}

/* Tiles of whole rows of the array, each of `row` elements: no more than a tile of scan_pipeline
 * has. If possible tiles begin with a line, or at least with a vector, and at most a tenth of their
 * places is empty. */
static inline struct tiling short_rows_tiling(size_t n, size_t row, size_t widest)
{
    size_t segment = APART_ROWS * ROW(widest), unit = rows_to_end(row, LINE_TAKES(widest));
    if (apart_tiling(n, row, unit, widest).segments > APART_MOST)
        unit = rows_to_end(row, LANE_TAKES(widest));
    if (apart_tiling(n, row, unit, widest).segments > APART_MOST) unit = 1;
    size_t count = APART_SEGMENTS * segment / row / unit * unit;
    if (count == 0) count = unit;

    struct tiling t = apart_tiling(n, row, count, widest), next;
    while (t.tile * 10 < t.segments * segment * 9) {
        next = apart_tiling(n, row, count += unit, widest);
        if (next.segments > APART_MOST) break;
        if (next.tile * t.segments > t.tile * next.segments) t = next;
    }
    return t;
}

/* Tiles that are parts of rows, the same number of each. All but the last of a row have whole
 * lines. */
static inline struct tiling long_rows_tiling(size_t n, size_t row, size_t widest)
{
    size_t line = LINE_TAKES(widest), before = row % line > 0 ? line : 0; /* places in the line */
    size_t parts = tiles_with(row, TILE_WITH(MANY_ROWS, widest) - before);
    size_t tile = tiles_with(tiles_with(row, parts), line) * line;
    struct tiling t = {TILES_OF_ROW, tile, n / row * tiles_with(row, tile),
                       (int)tiles_with(tile + before, APART_ROWS * ROW(widest)), APART_ROWS};
    return t;
}

/* The division of n elements. row > 0: the rows have that length, and each is a sequence. */
static inline struct tiling tiling_of(size_t n, size_t row, size_t widest)
{
    size_t one_tile = tiles_with(n, WAVE_ROWS * ROW(widest)); /* its segments */
    struct tiling t;
    if (row > 0 && row <= TILE_WITH(MANY_ROWS, widest)) return short_rows_tiling(n, row, widest);
    if (row > 0) {
        t = long_rows_tiling(n, row, widest);
        if (t.tiles <= n / row * PARTS_MOST && t.tiles <= LONG_TILES) return t;
    }
    if (one_tile <= WAVE_ALONE) return wave_tiling(n, one_tile ? (int)one_tile : 1, widest);
    t = wave_tiling(n, WAVE_FINE, widest);
    if (t.tiles > WAVE_SOME_TILES) t = wave_tiling(n, WAVE_MEDIUM, widest);
    if (t.tiles <= WAVE_SOME_TILES) return t;
    t = wave_tiling(n, WAVE_COARSE, widest);
    if (t.tiles <= WAVE_TILES) return t;
    struct tiling many = {MANY_TILES, TILE_WITH(MANY_ROWS, widest),
                          tiles_with(n, TILE_WITH(MANY_ROWS, widest)), SEGMENTS, MANY_ROWS};
    return many;
}

/* The number of states in a workspace for n elements. They are enough for any fewer elements. */
static inline size_t states_needed(size_t n, size_t widest)
{
    size_t tiles = tiles_with(n, TILE_WITH(MANY_ROWS, widest));
    return (tiles < WAVE_TILES ? WAVE_TILES : tiles) + WINDOW;
}

#endif

/*
 * shape.h — how elements are divided among tiles, segments and rows, and which kernel takes which
 * n.
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

/* The number of neighbours that a lane takes at a time: 16 bytes of sums. */
#define LANE_TAKES(sum_bytes) (16 / (sum_bytes))
#define ROW(sum_bytes)        (LANES * LANE_TAKES(sum_bytes))

/* A tile of scan_direct and scan_pipeline: 8192 sums of 4 bytes, 4096 of 8. */
#define TILE_ROWS       8
#define TILE_SEGMENTS   8
#define TILE(sum_bytes) (TILE_SEGMENTS * TILE_ROWS * ROW(sum_bytes))

/* scan_wave has a block for each tile, and takes as many elements as WAVE_MAX_TILES TILEs hold. The
 * fewer elements there are, the smaller the tiles, so that more blocks share the work: fine tiles
 * for few elements, then mid-sized ones, then TILEs. The numbers were found by trial on an H200. */
#define WAVE_MAX_TILES            512
#define WAVE_MAX(sum_bytes)       ((size_t)WAVE_MAX_TILES * TILE(sum_bytes))
#define FINE_SEGMENTS(sum_bytes)  ((sum_bytes) == 8 ? 8 : 4)
#define FINE_ROWS(sum_bytes)      ((sum_bytes) == 8 ? 2 : 4)
#define FINE_MAX_TILES            64
#define MEDIUM_SEGMENTS         4
#define MEDIUM_ROWS             8
#define MEDIUM_MAX_TILES        128

/* scan_onchip takes more than twice as many elements as scan_wave. It has at most ONCHIP_MAX_TILES
 * tiles, so that each has a multiprocessor of an H200 for itself. A warp scans PART_ROWS rows at a
 * time. The last part of its segment stays in registers, and the others in shared memory. So the
 * most rows are those that fit. */
#define ONCHIP_MAX_TILES      128
#define ONCHIP_SEGMENTS       32
#define ONCHIP_MAX_ROWS       18
#define PART_ROWS             6
#define ONCHIP_MAX(sum_bytes) (ONCHIP_MAX_TILES * ONCHIP_TILE(ONCHIP_MAX_ROWS, sum_bytes))
#define ONCHIP_TILE(rows, sum_bytes)                                                               \
    ((size_t)ONCHIP_SEGMENTS * (size_t)(rows) * (size_t)ROW(sum_bytes))

/* How a block divides its tile: into `segments` segments of `rows` rows. */
struct division {
    int segments, rows;
};

/* The number of tiles of n elements. */
static inline size_t tiles_in(size_t n, struct division d, size_t sum_bytes)
{
    size_t tile = (size_t)d.segments * d.rows * ROW(sum_bytes);
    return n / tile + (n % tile > 0);
}

/* The number of tiles of n elements that are divided into TILEs. */
static inline size_t tiles_of(size_t n, size_t sum_bytes)
{
    return n / TILE(sum_bytes) + (n % TILE(sum_bytes) > 0);
}

/* How scan_wave divides n elements. */
static inline struct division wave_division(size_t n, size_t sum_bytes)
{
    struct division fine = {FINE_SEGMENTS(sum_bytes), FINE_ROWS(sum_bytes)};
    struct division medium = {MEDIUM_SEGMENTS, MEDIUM_ROWS};
    struct division coarse = {TILE_SEGMENTS, TILE_ROWS};
    if (tiles_in(n, fine, sum_bytes) <= FINE_MAX_TILES) return fine;
    if (tiles_in(n, medium, sum_bytes) <= MEDIUM_MAX_TILES) return medium;
    return coarse;
}

/* How scan_onchip divides n elements: into segments that are as short as the number of tiles
 * allows. */
static inline struct division onchip_division(size_t n, size_t sum_bytes)
{
    struct division d = {ONCHIP_SEGMENTS, PART_ROWS};
    while (tiles_in(n, d, sum_bytes) > ONCHIP_MAX_TILES) d.rows += PART_ROWS;
    return d;
}

/* The shared memory in which a block of scan_onchip holds all parts but the last. */
static inline size_t onchip_held_bytes(int rows, size_t sum_bytes)
{
    return ONCHIP_TILE(rows - PART_ROWS, sum_bytes) * sum_bytes;
}

/* The number of states in a workspace for n elements. They are enough for any fewer elements,
 * too. */
static inline size_t states_for(size_t n, size_t sum_bytes)
{
    size_t tiles = tiles_of(n, sum_bytes);
    return tiles < MEDIUM_MAX_TILES ? MEDIUM_MAX_TILES : tiles;
}

/* What one scan launches. */
enum kernel { KERNEL_WAVE, KERNEL_ONCHIP, KERNEL_PIPELINE, KERNEL_DIRECT };

/* The kernel for n elements. `capability` is that of the code (90 for 9.0), which may be below that
 * of the GPU. scan_pipeline needs code for Hopper and 16-byte alignment. Otherwise scan_direct
 * takes its place and adds in the same order. */
static inline enum kernel kernel_for(size_t n, size_t sum_bytes, int capability, bool aligned)
{
    if (n <= WAVE_MAX(sum_bytes)) return KERNEL_WAVE;
    if (n <= ONCHIP_MAX(sum_bytes)) return KERNEL_ONCHIP;
    return capability >= 90 && aligned ? KERNEL_PIPELINE : KERNEL_DIRECT;
}

#endif

/*
 * scan.h — what the kernel of step 11 and its descriptor share: the variants, the sizes of a block
 * and of its tile, and what the workspace holds.
 */
#ifndef STEP11_SCAN_H
#define STEP11_SCAN_H

#define WARP    32
#define THREADS 256 /* a block */

/* A variant's number is the number of float4 per thread, less the two of step 9: see VECTORS(). */
enum variant { TILE_2048, TILE_4096, TILE_8192 };
#define VECTORS(variant) (2 << (variant))

/* Elements of a tile, which one block scans. */
#define TILE(vectors) (4 * (vectors)*THREADS)

/* The number of totals of a tile: each warp has one for each float4 of a thread. */
#define TOTALS(vectors) ((vectors)*THREADS / WARP)

#endif

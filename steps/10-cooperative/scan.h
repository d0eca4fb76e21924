/*
 * scan.h — what the kernel of step 10 and its descriptor share: the sizes of a block and of a tile,
 * and how many blocks there are.
 */
#ifndef STEP10_SCAN_H
#define STEP10_SCAN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WARP    32
#define THREADS 256 /* a block; each has two float4 */

/* Blocks that a multiprocessor is to hold: with its 2048 threads full, the compiler has 32 registers
 * for each. */
#define RESIDENT (2048 / THREADS)

/* Elements that a block scans at a time: a tile. */
#define B (2 * 4 * THREADS)

/* Totals of warps: one of their threads' first float4, and one of the second. A warp scans them. */
#define TOTALS (2 * THREADS / WARP)

/* The workspace has room for the sums of so many blocks; no GPU holds half as many at a time. */
#define MOST_BLOCKS 4096

/* In which order a block sums up its tiles: see the notes. */
enum variant { BACKWARD, FORWARD };

static inline size_t tiles_of(size_t n) { return (n + B - 1) / B; }

/* Blocks of a scan of n elements on the current device: as many as it holds at a time, but no more
 * than there are tiles. 0: the device cannot tell, or has no cooperative launch. (scan.cu) */
unsigned step10_blocks(size_t n);

#ifdef __cplusplus
}
#endif

#endif

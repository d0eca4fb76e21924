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

/* The number of blocks that a multiprocessor shall hold. With all of its 2048 threads in use, the
 * compiler has 32 registers for each thread. */
#define RESIDENT (2048 / THREADS)

/* Elements that a block scans at a time: a tile. */
#define B (2 * 4 * THREADS)

/* The number of totals of a tile: each warp has one of its threads' first float4 and one of the
 * second. One warp scans them all. */
#define TOTALS (2 * THREADS / WARP)

/* The workspace has room for the sums of this many blocks. No GPU holds half as many at a time. */
#define MOST_BLOCKS 4096

/* The order in which a block sums up its tiles (notes/10-cooperative.md). */
enum variant { BACKWARD, FORWARD };

static inline size_t tiles_of(size_t n) { return (n + B - 1) / B; }

/* The number of blocks of a scan of n elements on the current device: as many as it holds at a
 * time, but no more than there are tiles. 0 if the device cannot say, or has no cooperative launch.
 * (scan.cu) */
unsigned step10_blocks(size_t n);

#ifdef __cplusplus
}
#endif

#endif

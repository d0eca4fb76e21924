/*
 * scan.h — what the kernels of step 9 and its descriptor share: the variants, and the sizes of a
 * block and of its part.
 */
#ifndef STEP09_SCAN_H
#define STEP09_SCAN_H

#define WARP    32
#define THREADS 256 /* a block; each has two float4 */

/* Elements that one block scans. */
#define B (2 * 4 * THREADS)

/* The number of totals of a block: each warp has one of its threads' first float4 and one of the
 * second. One warp scans them all. */
#define TOTALS (2 * THREADS / WARP)

enum variant { SHFL, PREDICATE };

#endif

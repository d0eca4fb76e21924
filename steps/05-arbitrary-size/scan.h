/*
 * scan.h — what the kernels of step 5 and its descriptor share: the size of a block's part, the
 * variants, and how much shared memory each takes.
 */
#ifndef STEP05_SCAN_H
#define STEP05_SCAN_H

#include <stddef.h>

/* Elements that one block scans, a power of two. Harris 2007 takes 512, GPU Gems 3 takes 128; make
 * step5-B128 builds a program that takes 128. */
#ifndef B
#define B 512
#endif

/* How a block scans its elements, and what happens to the last ones when B does not divide n. */
enum variant {
    CONFLICT_FREE,  /* step 4's tree; the last block is filled up with zeros to B (GPU Gems 3) */
    WORK_EFFICIENT, /* step 3's tree, filled up likewise */
    NAIVE,          /* step 2's sweeps, filled up likewise */
    REMAINDER,      /* step 4's tree; full blocks do not check bounds, and one more launch scans the
                       rest, filled up to the next power of two only (Harris) */
};

/* Listing 3, corrected, for the 32 banks of today; B is small enough for one level of padding. Step
 * 3's tree has none. */
#define LOG_NUM_BANKS                    5
#define CONFLICT_FREE_OFFSET(i, padding) ((padding) ? (i) >> LOG_NUM_BANKS : 0)

/* Floats of shared memory for n elements. */
#define PADDED_SIZE(n, padding) ((n) + CONFLICT_FREE_OFFSET((n)-1, padding))

/* Leaves of the tree that scans `rest` elements: the next power of two, at least 2. */
static inline int remainder_size(size_t rest)
{
    int size = 2;
    while ((size_t)size < rest) size *= 2;
    return size;
}

#endif

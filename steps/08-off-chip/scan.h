/*
 * scan.h — what the kernels of step 8 and its descriptor share: threads a block, and from how many
 * elements on the double-buffered scan takes over from the tree.
 */
#ifndef STEP08_SCAN_H
#define STEP08_SCAN_H

#include <stddef.h>

/* Threads per block, in every kernel. No thread shares data with another one. */
#define THREADS 256

/* Reduce steps go on until at most this many elements are left. make step8-S4096 builds a program
 * that stops at 4096. The notes have measurements. */
#ifndef SWITCH
#define SWITCH (1 << 17)
#endif

/* How many elements the reduce steps may leave to the double-buffered scan. */
enum variant {
    HYBRID, /* SWITCH */
    TREE,   /* one: nothing is left to scan */
    NAIVE,  /* any number: there is one reduce step, always */
};

static inline size_t most_left(size_t n, int variant)
{
    if (variant == HYBRID) return SWITCH;
    return variant == TREE ? 1 : n;
}

/* The number of pairs of n elements. The last pair may lack its right element. */
static inline size_t pairs_of(size_t n) { return n / 2 + n % 2; }

/* Floats that n sums take in the workspace: an even number, so that what follows is aligned for
 * pair.cuh. */
static inline size_t room_for(size_t n) { return n + n % 2; }

#endif

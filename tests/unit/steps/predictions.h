/*
 * predictions.h — bank conflicts by formula, as the notes 02 to 07 give them: no address is
 * computed.
 */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { WARP_LANES = 32 };

/* The scan that runs in a block, and step 4's padding: a word after every `run` words, `levels`
 * times. */
enum kernel { SWEEPS, SWEEPS_OF_BLOCKS, TREE_ALONE, TREE_OF_BLOCKS, TREE_OF_VECTORS };
struct plan {
    const char *step, *variant; /* "-": it has none */
    enum kernel kernel;
    unsigned run, levels;
    bool rest_apart; /* the last elements get a tree of their own size */
    bool unrolled;   /* step 7: nvcc sees where temp[bi] is still in a register */
};

/* All steps with shared memory, and their variants. */
enum { PLANS = 11 };
extern const struct plan plans[PLANS];

/* The work of the warps of one block between two barriers: accesses to shared memory, as
 * instructions of warps, the lanes that take part, and conflicts. */
struct level {
    unsigned loads, stores, load_lanes, store_lanes, load_conflicts, store_conflicts;
};

/* A block with this number of elements of `size` bytes; it stores its sum if there are other
 * blocks. */
struct block {
    const struct plan *plan;
    unsigned size, elements, banks;
    bool sum;
};

/* The number of lanes that use the same bank if `lanes` lanes have a stride of `stride` words (both
 * powers of two), without padding and with the padding of a plan. */
unsigned ways(unsigned lanes, unsigned stride, unsigned banks);
unsigned padded_ways(const struct plan *, unsigned lanes, unsigned stride, unsigned banks);

/* Barriers that a block passes. */
unsigned barriers(const struct block *);

/* The work of a block after a number of barriers. */
struct level predict(const struct block *, unsigned epoch);

/* A launch over n elements: how many of them a block scans, and its j-th block. */
size_t block_elements(const struct plan *, size_t n);
struct block block_at(const struct plan *, size_t n, size_t j, unsigned banks);

/* Conflicts of a scan of n elements on 32 banks, of loads and of stores: of all blocks, and of
 * those that scan their sums. */
void predict_scan(const struct plan *, size_t n, size_t sum[2]);

unsigned log2_of(size_t n);

#endif

/*
 * algorithms.h — the documents' pseudo-code, as printed and corrected.
 *
 * Every function works on an array of n elements, n a power of two, and executes `in parallel` as
 * it is meant: all reads of a step come before its writes. An access outside the array is not
 * carried out but noted in `outside`. Nothing is owned.
 */
#ifndef ERRATA_ALGORITHMS_H
#define ERRATA_ALGORITHMS_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_ELEMENTS = 1024 };

struct array {
    long x[MOST_ELEMENTS];
    size_t n;
    bool outside; /* an index below 0 or from n on was named */
    size_t adds;  /* additions carried out */
};

/* Figure 1 (Harris), Table 39-1 and 39.1.1 (Gems): a loop `from 1 to n`, where n-1 is the last. */
void sequential(struct array *out, const struct array *in, bool as_printed);

/* Algorithm 1: inclusive, in place. As printed a step adds from k >= 2^d on, which is twice the
 * right bound. */
void naive(struct array *, bool as_printed);

/* Algorithm 2: the same in two buffers. Gems' has no swap of the two. */
void naive_buffered(struct array *, bool as_printed, bool swaps);

enum tree_as { TREE_RIGHT, TREE_GEMS_STRIDE, TREE_GEMS_INDEX, TREE_HARRIS_TOP };
/* Algorithms 3 and 4: up-sweep, a zero at the root, down-sweep. TREE_GEMS_STRIDE has the stride
 * 2^d + 1 and TREE_GEMS_INDEX the index 2^d + 1 - 1, both for 2^(d+1); TREE_HARRIS_TOP begins the
 * down-sweep at log2 n, not one lower. */
void tree(struct array *, enum tree_as);

enum hybrid_as { HYBRID_RIGHT, HYBRID_FROM_1, HYBRID_PRINTED_DOWN, HYBRID_PRINTED_TOP };
/* Algorithms 5 and 6 (Gems), inclusive: sums of pairs, `steps` levels of them (at most log2 n),
 * Algorithm 2, and back. HYBRID_FROM_1 reduces from k = 1; HYBRID_PRINTED_DOWN has line 7 and the
 * else of the printed down-sweep; HYBRID_PRINTED_TOP begins it at log2 n - 1, as printed. */
void hybrid(struct array *, enum hybrid_as, int steps);

/* Splits keys by a bit, zeros first, and keeps the order otherwise (39.3.3): where each key goes.
 * As printed the number of zeros is the last element of an exclusive scan, which leaves out the
 * last key. */
void split_places(const unsigned *keys, size_t n, unsigned bit, size_t *place, bool as_printed);

#endif

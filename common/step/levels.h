/*
 * levels.h — a scan by levels: the work of a step whose blocks scan a part each, and write its sum.
 *
 * Level 0 are the n elements, level 1 the sums of its blocks, level 2 the sums of the blocks that
 * scan level 1, and so on up to a level of one block. `each` is the number of elements that a block
 * scans, at every level. On the way down, uniform_add adds to every element of a level the result
 * for its block in the level above. n must be at least 1.
 */
#ifndef LEVELS_H
#define LEVELS_H

#include <stddef.h>

/* The number of blocks that scan n elements. */
size_t levels_blocks(size_t n, size_t each);

/* The number of levels above level 0. uniform_add is launched once for each of them. */
unsigned levels_above(size_t n, size_t each);

/* The number of block sums in all levels together. A level of one block has none. */
size_t levels_sums(size_t n, size_t each);

/* Elements read and written: by the blocks, and again by uniform_add if there is a level above.
 * Block sums are not counted, because they are few. */
double levels_words(size_t n, size_t each);

#endif

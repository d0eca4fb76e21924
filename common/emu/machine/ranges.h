/*
 * ranges.h — ranges of addresses that do not overlap, in order of their addresses.
 *
 * A search tree, balanced by random priorities (a treap; the priority is a hash of the range's base,
 * so every run has the same tree). Each node also knows the ends of its subtree and the widest hole
 * between two ranges in it. So every function here takes a time logarithmic in the number of
 * ranges.
 */
#ifndef EMU_RANGES_H
#define EMU_RANGES_H

#include "machine.h"

/* Between two allocations stay addresses that belong to none, so that a step over the end is
 * seen. A hole is what an allocation may have of the addresses between two ranges. */
enum { RANGES_ALIGNMENT = 256, RANGES_GAP = 4096 };

struct range_node;
struct ranges {
    struct range_node *root; /* NULL: no range */
    size_t count;
};

void ranges_close(struct ranges *);

/* Adds a range. Where it is then stays the same until it is removed. NULL: out of memory. */
struct range *ranges_add(struct ranges *, struct range);
/* Removes the range that begins at `base`, which must be there. */
void ranges_remove(struct ranges *, uint64_t base);

/* The last range that begins at an address or below it; the first that begins above it. NULL:
 * there is none. */
struct range *ranges_at(const struct ranges *, uint64_t address);
struct range *ranges_above(const struct ranges *, uint64_t address);

/* The lowest address where an allocation may begin behind a range that ends there. */
uint64_t ranges_behind(uint64_t end);
/* The first hole behind the range that begins at `from` that has room for so many bytes: where they
 * begin. 0: there is none. What lies behind the last range is no hole. */
uint64_t ranges_hole(const struct ranges *, uint64_t from, uint64_t bytes);

#endif

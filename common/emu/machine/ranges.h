/*
 * ranges.h — a sorted set of address ranges that do not overlap.
 *
 * It is a search tree, balanced by random priorities (a treap). The priority is a hash of the
 * range's base, so every run has the same tree. Each node also keeps the ends of its subtree and
 * the widest hole between two of its ranges. Each function takes time logarithmic in the number of
 * ranges.
 */
#ifndef EMU_RANGES_H
#define EMU_RANGES_H

#include "machine.h"

/* Between two allocations is a gap of addresses that belong to none, so that accesses past the end
 * are detected. A hole is the space between two ranges that an allocation may use. */
enum { RANGES_ALIGNMENT = 512, RANGES_GAP = 4096 };

struct range_node;
struct ranges {
    struct range_node *root; /* NULL: no range */
    size_t count;
};

void ranges_close(struct ranges *);

/* Adds a range. Its address in host memory stays valid until it is removed. NULL: out of memory. */
struct range *ranges_add(struct ranges *, struct range);
/* Removes the range that begins at `base`, which must be there. */
void ranges_remove(struct ranges *, uint64_t base);

/* The last range that begins at an address or below it; the first that begins above it. NULL: no
 * range does. */
struct range *ranges_at(const struct ranges *, uint64_t address);
struct range *ranges_above(const struct ranges *, uint64_t address);

/* The lowest address for an allocation behind a range that ends at `end`. */
uint64_t ranges_behind(uint64_t end);
/* The first hole of at least `bytes` bytes behind the range that begins at `from`; 0: there is
 * none. The addresses behind the last range are not a hole. */
uint64_t ranges_hole(const struct ranges *, uint64_t from, uint64_t bytes);

#endif

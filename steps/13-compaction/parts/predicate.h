/*
 * predicate.h — which elements are kept: those in one of a few intervals.
 *
 * Elements of any type become unsigned keys that are in the same order (keep.cuh, expression.c).
 * For real types -0 comes just before +0, and NaNs lie below -infinity or above +infinity. So every
 * expression of comparisons is a union of intervals of keys, and one subtraction and one comparison
 * tell whether a key is in an interval.
 */
#ifndef STEP13_PREDICATE_H
#define STEP13_PREDICATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define COMPACT_INTERVALS_MOST 16

/* The keys low, …, low + span. */
struct key_interval {
    uint64_t low, span;
};

/* Keys are as wide as the elements. No interval: nothing is kept. */
struct predicate {
    unsigned count;
    struct key_interval interval[COMPACT_INTERVALS_MOST];
};

/* The keys of elements: x < y exactly if key(x) < key(y), but for the two zeros and NaNs. */
static inline uint32_t key_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline uint64_t key_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

static inline uint32_t key_of_i32(int32_t x) { return (uint32_t)x ^ 0x80000000u; }
static inline uint64_t key_of_i64(int64_t x) { return (uint64_t)x ^ 0x8000000000000000u; }

/* The elements from the first key to the last one; none if `last` is below `first`. */
static inline struct predicate predicate_between(uint64_t first, uint64_t last)
{
    struct predicate p = {first <= last, {{first, last - first}}};
    return p;
}

static inline bool predicate_keeps(const struct predicate *p, uint64_t key)
{
    for (unsigned i = 0; i < p->count; i++)
        if (key - p->interval[i].low <= p->interval[i].span) return true;
    return false;
}

#endif

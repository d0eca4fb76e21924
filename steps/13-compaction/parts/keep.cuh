/*
 * keep.cuh — is an element kept? Each of these is passed to a kernel as an argument, and is asked
 * with an element and its index.
 */
#ifndef STEP13_KEEP_CUH
#define STEP13_KEEP_CUH

#include "../predicate.h"

/* The key of an element that is read as an unsigned word: predicate.h has the same in C. */
struct real4 {
    typedef uint32_t word;
    static __device__ word key(word x) { return x ^ ((word)((int32_t)x >> 31) | 0x80000000u); }
};
struct real8 {
    typedef uint64_t word;
    static __device__ word key(word x)
    {
        return x ^ ((word)((int64_t)x >> 63) | 0x8000000000000000u);
    }
};
struct integer4 {
    typedef uint32_t word;
    static __device__ word key(word x) { return x ^ 0x80000000u; }
};
struct integer8 {
    typedef uint64_t word;
    static __device__ word key(word x) { return x ^ 0x8000000000000000u; }
};

/* One comparison: one interval. */
template <typename Type> struct in_interval {
    typedef typename Type::word word;
    word low, span;

    __device__ bool operator()(word x, size_t) const { return Type::key(x) - low <= span; }
};

template <typename Type> struct in_intervals {
    typedef typename Type::word word;
    unsigned count;
    word low[INTERVALS_MOST], span[INTERVALS_MOST];

    __device__ bool operator()(word x, size_t) const
    {
        word key = Type::key(x);
        bool kept = false;
        for (unsigned i = 0; i < count; i++) kept |= key - low[i] <= span[i];
        return kept;
    }
};

/* What another kernel has found. */
struct flagged {
    typedef uint8_t word;
    const uint8_t *flags;

    __device__ bool operator()(word, size_t i) const { return flags[i] != 0; }
};

template <typename Type> static struct in_interval<Type> one_interval(const struct predicate *p) {
    typedef typename Type::word word;
    return {(word)p->interval[0].low, (word)p->interval[0].span};
}

template <typename Type>
static struct in_intervals<Type> all_intervals(const struct predicate *p) {
    typedef typename Type::word word;
    struct in_intervals<Type> keep = {
        p->count, {0}, { 0 }
    };
    for (unsigned i = 0; i < p->count; i++) {
        keep.low[i] = (word)p->interval[i].low;
        keep.span[i] = (word)p->interval[i].span;
    }
    return keep;
}

#endif

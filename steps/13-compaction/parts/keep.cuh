/*
 * keep.cuh — is an element kept? Each of these is passed to a kernel as an argument, and is asked
 * with an element and its index. And what is stored of an element that is kept?
 */
#ifndef STEP13_KEEP_CUH
#define STEP13_KEEP_CUH

#include "steps/13-compaction/compact.h"

/* The key of an element that is read as an unsigned word: compact.h has the same in C. */
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

/* One interval of integers of 32 bits. Their keys are x + 2^31. So 2^31 is taken off `low` once,
 * and is not added to each element. */
struct in_words {
    typedef uint32_t word;
    word low, span;

    __device__ bool operator()(word x, size_t) const { return x - low <= span; }
};

/* One interval of floats without NaNs: two comparisons. -0 and +0 are equal, so it must not lie
 * between them. */
struct in_reals {
    typedef uint32_t word;
    float low, high;

    __device__ bool operator()(word x, size_t) const
    {
        float real = __uint_as_float(x);
        return real >= low && real <= high;
    }
};

/* One interval of any type. */
template <typename Type> struct in_interval {
    typedef typename Type::word word;
    word low, span;

    __device__ bool operator()(word x, size_t) const { return Type::key(x) - low <= span; }
};

template <typename Type> struct in_intervals {
    typedef typename Type::word word;
    unsigned count;
    word low[COMPACT_INTERVALS_MOST], span[COMPACT_INTERVALS_MOST];

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

    template <typename T> __device__ bool operator()(const T &, size_t i) const
    {
        return flags[i] != 0;
    }
};

/* The array of flags that decides alone, if a Keep has one: then the pipeline copies flags into its
 * ring beside the elements, and looks at them itself. `kept` says which elements are kept if those
 * of `set` have a flag that is not 0. A library may specialize it, too. */
template <typename Keep> struct flags_of {
    enum { ARE_THERE = false };
    static __host__ __device__ const uint8_t *array(const Keep &) { return NULL; }
};
template <> struct flags_of<flagged> {
    enum { ARE_THERE = true };
    static __host__ __device__ const uint8_t *array(const flagged &keep) { return keep.flags; }
    static __device__ uint32_t kept(const flagged &, uint32_t set) { return set; }
};

/* What the kernels store of the elements that a Keep keeps: the elements themselves. A library may
 * specialize it for a Keep of its own (common/tools/library/select.cuh stores indices).
 *   first    where the first kept element goes;
 *   of       what is stored of elements that are in registers, by row; `begin` is the index of the
 *            lane's first one;
 *   hold     what a list in shared memory holds of an element, by its place in the tile. It is not
 *            wider than the element;
 *   release  what is stored of that; `begin` is the index of the tile's first element. */
template <typename T, typename Keep> struct stored {
    typedef T type, held;
    static const bool AS_IT_IS = true;
    static __device__ T *first(T *out, const Keep &) { return out; }
    template <int ITEMS>
    static __device__ auto of(const T (&x)[ITEMS], size_t) -> const T (&)[ITEMS]
    {
        return x;
    }
    static __device__ T hold(T x, unsigned) { return x; }
    static __device__ T release(T x, size_t) { return x; }
};

static inline struct in_words one_interval_of_words(const struct predicate *p)
{
    return {(uint32_t)p->interval[0].low - 0x80000000u, (uint32_t)p->interval[0].span};
}

static inline float real_of_key(uint32_t key)
{
    uint32_t bits = key >> 31 ? key & 0x7fffffffu : ~key;
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Its one interval, if in_reals can have it. */
static inline bool one_interval_of_reals(struct in_reals *keep, const struct predicate *p)
{
    const uint32_t ZERO = 0x80000000u; // the key of +0; that of -0 is one less
    uint32_t low = (uint32_t)p->interval[0].low, high = low + (uint32_t)p->interval[0].span;
    *keep = {real_of_key(low), real_of_key(high)};
    return keep->low <= keep->high && low != ZERO && high != ZERO - 1; // a NaN is never <=
}

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

/*
 * ops_compare.c — setp and set (PTX ISA, "Comparison and Selection").
 *
 * Each comparison makes a mask of the lanes for which it holds. finish() combines the mask with
 * another predicate and writes the result of the instruction.
 */
#include "ops_flush.h"

/* Combines a comparison with the other predicate of setp.….and, .or or .xor. */
static uint32_t combined(const struct warp *w, const struct insn *i, uint32_t holds)
{
    if (i->compare.combine == COMBINE_NONE) return holds;
    uint32_t other = *(const uint32_t *)slot_at(w, i->compare.other);
    if (i->compare.negated) other = ~other;
    return i->compare.combine == COMBINE_AND  ? holds & other
           : i->compare.combine == COMBINE_OR ? holds | other
                                              : holds ^ other;
}

static void finish(struct warp *w, const struct insn *i, uint32_t mask, uint32_t holds)
{
    if (i->compare.has_predicate) {
        uint32_t p = combined(w, i, holds), q = combined(w, i, ~holds);
        set_predicate(w, i->d, mask, p);
        set_predicate(w, i->compare.opposite, mask, q);
        return;
    }
    lane_32 *d = LANES(u32, i->d), yes = i->compare.yes;
    holds = combined(w, i, holds);
    FOR_LANES(d, holds >> l & 1 ? yes : 0);
}

#define DEFINE_COMPARE(name, type, condition)                                                      \
    static void name##_##type(struct warp *w, const struct insn *i, uint32_t mask)                 \
    {                                                                                              \
        const L_##type *as = LANES(type, i->a), *bs = LANES(type, i->b);                           \
        uint32_t holds = 0;                                                                        \
        for (int l = 0; l < WARP; l++) {                                                           \
            T_##type a = (T_##type)as[l], b = (T_##type)bs[l];                                     \
            holds |= (uint32_t)(condition) << l;                                                   \
        }                                                                                          \
        finish(w, i, mask, holds);                                                                 \
    }
/* .ftz: a denormal compares as a zero. */
#define DEFINE_COMPARE_FLUSHED(name, type, condition)                                              \
    static void name##_##type##_flushed(struct warp *w, const struct insn *i, uint32_t mask)       \
    {                                                                                              \
        lane_float as[WARP], bs[WARP];                                                             \
        uint32_t holds = 0;                                                                        \
        flush_lanes(as, LANES(f32, i->a));                                                         \
        flush_lanes(bs, LANES(f32, i->b));                                                         \
        for (int l = 0; l < WARP; l++) {                                                           \
            float a = as[l], b = bs[l];                                                            \
            holds |= (uint32_t)(condition) << l;                                                   \
        }                                                                                          \
        finish(w, i, mask, holds);                                                                 \
    }
#define ENTRY_COMPARE_FLUSHED(name, type, condition)                                               \
    {"flushed.compare." #name "." #type, name##_##type##_flushed, ""},
#define ENTRY_COMPARE(name, type, condition) \
    {"compare." #name "." #type, name##_##type, " " W_##type W_##type},

#define INTEGERS(X, name, condition)                                                               \
    X(name, u16, condition) X(name, s16, condition)                                                \
    X(name, u32, condition) X(name, s32, condition)                                                \
    X(name, u64, condition) X(name, s64, condition)
#define FLOATS(X, name, condition) X(name, f32, condition) X(name, f64, condition)
#define FLOATS_32(X, name, condition) X(name, f32, condition)

#define UNSIGNED(X, name, condition)                                                               \
    X(name, u16, condition) X(name, u32, condition) X(name, u64, condition)

/* clang-format off */
#define FLOAT_COMPARISONS(X, KIND)                                                                 \
    KIND(X, eq,  a == b)                                                                           \
    KIND(X, ne,  a < b || a > b)                                                                   \
    KIND(X, lt,  a < b)                                                                            \
    KIND(X, le,  a <= b)                                                                           \
    KIND(X, gt,  a > b)                                                                            \
    KIND(X, ge,  a >= b)                                                                           \
    KIND(X, equ, !(a < b || a > b))                                                                \
    KIND(X, neu, a != b)                                                                           \
    KIND(X, ltu, !(a >= b))                                                                        \
    KIND(X, leu, !(a > b))                                                                         \
    KIND(X, gtu, !(a <= b))                                                                        \
    KIND(X, geu, !(a < b))                                                                         \
    KIND(X, num, a == a && b == b)                                                                 \
    KIND(X, nan, a != a || b != b)

/* lo, ls, hi and hs are lt, le, gt and ge of unsigned numbers; equ, neu, … also hold if an operand
 * is NaN. */
#define COMPARISONS(X)                                                                             \
    INTEGERS(X, eq, a == b)                                                                        \
    INTEGERS(X, ne, a != b)                                                                        \
    INTEGERS(X, lt, a < b)                                                                         \
    INTEGERS(X, le, a <= b)                                                                        \
    INTEGERS(X, gt, a > b)                                                                         \
    INTEGERS(X, ge, a >= b)                                                                        \
    UNSIGNED(X, lo, a < b)                                                                         \
    UNSIGNED(X, ls, a <= b)                                                                        \
    UNSIGNED(X, hi, a > b)                                                                         \
    UNSIGNED(X, hs, a >= b)                                                                        \
    FLOAT_COMPARISONS(X, FLOATS)
/* clang-format on */

COMPARISONS(DEFINE_COMPARE)
FLOAT_COMPARISONS(DEFINE_COMPARE_FLUSHED, FLOATS_32)

/* 16-bit floats compare as floats. */
#define T_f16 float
#define T_bf16 float
#define HALVES(X, name, condition) X(name, f16, condition) X(name, bf16, condition)
#define DEFINE_COMPARE_HALF(name, type, condition)                                                 \
    static void name##_##type(struct warp *w, const struct insn *i, uint32_t mask)                 \
    {                                                                                              \
        const lane_32 *as = LANES(u32, i->a), *bs = LANES(u32, i->b);                              \
        uint32_t holds = 0;                                                                        \
        for (int l = 0; l < WARP; l++) {                                                           \
            float a = f32_of_##type(flush_##type((uint16_t)as[l], i->rules.flush));                \
            float b = f32_of_##type(flush_##type((uint16_t)bs[l], i->rules.flush));                \
            holds |= (uint32_t)(condition) << l;                                                   \
        }                                                                                          \
        finish(w, i, mask, holds);                                                                 \
    }
#define ENTRY_COMPARE_HALF(name, type, condition)                                                  \
    {"compare." #name "." #type, name##_##type, " 44"},
#define HALF_COMPARISONS(X)                                                                        \
    HALVES(X, eq, a == b) HALVES(X, ne, a < b || a > b) HALVES(X, lt, a < b) HALVES(X, le, a <= b) \
    HALVES(X, gt, a > b) HALVES(X, ge, a >= b) HALVES(X, equ, !(a < b || a > b))                   \
    HALVES(X, neu, a != b) HALVES(X, ltu, !(a >= b)) HALVES(X, leu, !(a > b))                      \
    HALVES(X, gtu, !(a <= b)) HALVES(X, geu, !(a < b)) HALVES(X, num, a == a && b == b)            \
    HALVES(X, nan, a != a || b != b)
HALF_COMPARISONS(DEFINE_COMPARE_HALF)

/* For two 16-bit floats in a register: set writes a value into each half; setp p|q sets one
 * predicate for each. */
static void finish_pair(struct warp *w, const struct insn *i, uint32_t mask, uint32_t low,
                        uint32_t high)
{
    low = combined(w, i, low);
    high = combined(w, i, high);
    if (i->compare.has_predicate) {
        set_predicate(w, i->d, mask, low);
        set_predicate(w, i->compare.opposite, mask, high);
        return;
    }
    lane_32 *d = LANES(u32, i->d), yes = i->compare.yes;
    FOR_LANES(d, (low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0));
}

#define DEFINE_COMPARE_PAIR(name, type, condition)                                                 \
    static inline uint32_t name##_##type##_one(uint32_t p, uint32_t q, bool flush)                 \
    {                                                                                              \
        float a = f32_of_##type(flush_##type((uint16_t)p, flush));                                 \
        float b = f32_of_##type(flush_##type((uint16_t)q, flush));                                 \
        return (condition) != 0;                                                                   \
    }                                                                                              \
    static void name##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)             \
    {                                                                                              \
        const lane_32 *as = LANES(u32, i->a), *bs = LANES(u32, i->b);                              \
        uint32_t low = 0, high = 0;                                                                \
        for (int l = 0; l < WARP; l++) {                                                           \
            low |= name##_##type##_one(as[l], bs[l], i->rules.flush) << l;                         \
            high |= name##_##type##_one(as[l] >> 16, bs[l] >> 16, i->rules.flush) << l;            \
        }                                                                                          \
        finish_pair(w, i, mask, low, high);                                                        \
    }
#define ENTRY_COMPARE_PAIR(name, type, condition)                                                  \
    {"compare." #name "." #type "x2", name##_##type##x2, " 44"},
HALF_COMPARISONS(DEFINE_COMPARE_PAIR)

static const struct op compare_entries[] = {
    COMPARISONS(ENTRY_COMPARE) FLOAT_COMPARISONS(ENTRY_COMPARE_FLUSHED, FLOATS_32)
        HALF_COMPARISONS(ENTRY_COMPARE_HALF) HALF_COMPARISONS(ENTRY_COMPARE_PAIR)};
DEFINE_OP_TABLE(ops_compare, compare_entries);

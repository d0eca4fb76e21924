/* ops_move.c — moves, selection and comparison. */
#include "ops.h"
#include "common/tools/emu/machine/schedule.h"

/* ---- ops move -------------------------------------------------------------------------------- */

/* Mov, selp, slct, logic on predicates, packing and unpacking (PTX ISA, "Data Movement"). */

#define MOVE(X) X(mov, "mov", u32, a) X(mov, "mov", u64, a) X(mov, "mov", u16, a)
MOVE(DEFINE_UNARY)

/* ---- predicates: 32 lanes in one word */

static uint32_t predicate(const struct warp *w, const struct insn *i, slot s, unsigned source)
{
    uint32_t p = *(const uint32_t *)slot_at(w, s);
    return i->arithmetic.negated >> source & 1 ? ~p : p;
}

/* selp d, a, b, p: the predicate is in i->c */
#define SELECT(X) X(u16) X(u32) X(u64)
#define DEFINE_SELECT(type)                                                                        \
    static void selp_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        uint32_t p = predicate(w, i, i->c, 2);                                                     \
        FOR_LANES(d, p >> l & 1 ? a[l] : b[l]);                                                    \
    }
#define ENTRY_SELECT(type) {"selp." #type, selp_##type, W_##type W_##type W_##type "p"},
SELECT(DEFINE_SELECT)

/* slct d, a, b, c: a where c >= 0, else b */
#define SLCT(X) X(u16, s32) X(u32, s32) X(u64, s32) X(u16, f32) X(u32, f32) X(u64, f32)
#define DEFINE_SLCT(type, test)                                                                    \
    static void slct_##type##_##test(struct warp *w, const struct insn *i, uint32_t mask)          \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        const L_##test *c = LANES(test, i->c);                                                     \
        FOR_LANES(d, (T_##test)c[l] >= 0 ? a[l] : b[l]);                                           \
    }
#define ENTRY_SLCT(type, test)                                                                     \
    {"slct." #type "." #test, slct_##type##_##test, W_##type W_##type W_##type "4"},
SLCT(DEFINE_SLCT)

#define PREDICATES(X) X(and, p & q) X(or, p | q) X(xor, p ^ q)
#define DEFINE_PREDICATE(name, value)                                                              \
    static void name##_pred(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        uint32_t p = predicate(w, i, i->a, 0), q = predicate(w, i, i->b, 1);                       \
        set_predicate(w, i->d, mask, value);                                                       \
    }
#define ENTRY_PREDICATE(name, value) {#name ".pred", name##_pred, "ppp"},
PREDICATES(DEFINE_PREDICATE)
static void not_pred(struct warp *w, const struct insn *i, uint32_t mask)
{
    set_predicate(w, i->d, mask, ~predicate(w, i, i->a, 0));
}
static void mov_pred(struct warp *w, const struct insn *i, uint32_t mask)
{
    set_predicate(w, i->d, mask, predicate(w, i, i->a, 0));
}

/* ---- mov with a vector operand: the parts are in i->pack, the whole in i->d or i->a */

static void pack_16x2(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_32 *d = LANES(u32, i->d);
    const lane_32 *low = LANES(u32, i->pack.part[0]), *high = LANES(u32, i->pack.part[1]);
    FOR_LANES(d, (low[l] & 0xffff) | high[l] << 16);
}

static void pack_32x2(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 *d = LANES(u64, i->d);
    const lane_32 *low = LANES(u32, i->pack.part[0]), *high = LANES(u32, i->pack.part[1]);
    FOR_LANES(d, low[l] | (uint64_t)high[l] << 32);
}

static void pack_16x4(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 *d = LANES(u64, i->d);
    const lane_32 *a = LANES(u32, i->pack.part[0]), *b = LANES(u32, i->pack.part[1]),
                  *c = LANES(u32, i->pack.part[2]), *e = LANES(u32, i->pack.part[3]);
    FOR_LANES(d, (uint64_t)(a[l] & 0xffff) | (uint64_t)(b[l] & 0xffff) << 16 |
                     (uint64_t)(c[l] & 0xffff) << 32 | (uint64_t)(e[l] & 0xffff) << 48);
}

/* Parts of eight bits, which nvcc uses for char4: {a, b, c, d} = 32 bits */
static void pack_8x4(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_32 *d = LANES(u32, i->d);
    const lane_32 *a = LANES(u32, i->pack.part[0]), *b = LANES(u32, i->pack.part[1]),
                  *c = LANES(u32, i->pack.part[2]), *e = LANES(u32, i->pack.part[3]);
    FOR_LANES(d, (a[l] & 0xff) | (b[l] & 0xff) << 8 | (c[l] & 0xff) << 16 | e[l] << 24);
}

static void pack_8x2(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_32 *d = LANES(u32, i->d);
    const lane_32 *a = LANES(u32, i->pack.part[0]), *b = LANES(u32, i->pack.part[1]);
    FOR_LANES(d, (a[l] & 0xff) | (b[l] & 0xff) << 8);
}

/* A 128-bit register is two 64-bit registers. */
static void move_64x2(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 low[WARP], high[WARP], *d = LANES(u64, i->wide_move.to[0]);
    memcpy(low, LANES(u64, i->wide_move.from[0]), sizeof low);
    memcpy(high, LANES(u64, i->wide_move.from[1]), sizeof high);
    FOR_LANES(d, low[l]);
    d = LANES(u64, i->wide_move.to[1]);
    FOR_LANES(d, high[l]);
}

/* Results cannot overlap the source: a part is smaller than the whole, so it is another
 * register. */
#define DEFINE_UNPACK(name, type, parts, bits)                                                     \
    static void name(struct warp *w, const struct insn *i, uint32_t mask)                          \
    {                                                                                              \
        const L_##type *a = LANES(type, i->a);                                                     \
        for (int part = 0; part < parts; part++) {                                                 \
            if (i->pack.part[part] == NO_SLOT) continue;                                           \
            lane_32 *d = LANES(u32, i->pack.part[part]);                                           \
            FOR_LANES(d, (uint32_t)(a[l] >> bits * part & (~UINT64_C(0) >> (64 - bits))));         \
        }                                                                                          \
    }
DEFINE_UNPACK(unpack_16x2, u32, 2, 16)
DEFINE_UNPACK(unpack_32x2, u64, 2, 32)
DEFINE_UNPACK(unpack_16x4, u64, 4, 16)
DEFINE_UNPACK(unpack_8x4, u32, 4, 8)
DEFINE_UNPACK(unpack_8x2, u32, 2, 8)

/* ---- special registers whose values change while a warp runs */

static void read_clock(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->clock.loop) clocks_wait(w, i);
    uint64_t now = i->clock.which == CLOCK_WARP ? clocks_warp(w) : clocks_global(w);
    if (i->clock.which == CLOCK_GLOBAL) w->block->looked_at_time = true;
    if (i->lane_bytes == 8) {
        lane_64 *d = LANES(u64, i->d);
        FOR_LANES(d, now);
    } else {
        lane_32 *d = LANES(u32, i->d);
        FOR_LANES(d, (uint32_t)(now >> i->clock.shift)); /* 32: %clock_hi, %globaltimer_hi */
    }
}
static void activemask(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_32 *d = LANES(u32, i->d);
    FOR_LANES(d, mask);
}

/* An operation that needs copies of operands: decode_passes.c. A GPU leaves the sign of a NaN. */
static void after_copies(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct operand_copies *copies = i->arithmetic.copies;
    for (const struct operand_copy *c = copies->of; c < copies->of + copies->count; c++)
        if (i->rules.type == PTX_F64) {
            lane_64 *to = LANES(u64, c->to), infinity = UINT64_C(0x7ff) << 52;
            const lane_64 *from = LANES(u64, c->from);
            FOR_LANES(to, from[l] ^ ((from[l] & INT64_MAX) > infinity ? 0 : c->signs));
        } else {
            lane_32 *to = LANES(u32, c->to);
            const lane_32 *from = LANES(u32, c->from);
            FOR_LANES(to, from[l] ^ (uint32_t)c->signs); /* the result's NaN has no sign */
        }
    copies->then(w, i, mask);
}

static void nothing(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

static const struct op entries[] = {
    MOVE(ENTRY_UNARY) SELECT(ENTRY_SELECT) SLCT(ENTRY_SLCT) PREDICATES(ENTRY_PREDICATE)
    {"not.pred", not_pred, "pp"}, {"mov.pred", mov_pred, "pp"},
    {"pack.16x2", pack_16x2, ""}, {"pack.32x2", pack_32x2, ""}, {"pack.16x4", pack_16x4, ""},
    {"pack.8x4", pack_8x4, ""}, {"pack.8x2", pack_8x2, ""}, {"unpack.8x2", unpack_8x2, ""},
    {"move.64x2", move_64x2, ""},
    {"unpack.16x2", unpack_16x2, ""}, {"unpack.32x2", unpack_32x2, ""},
    {"unpack.16x4", unpack_16x4, ""}, {"unpack.8x4", unpack_8x4, ""},
    {"clock", read_clock, ""}, {"activemask.u32", activemask, "4"}, {"nothing", nothing, ""},
    {"copies", after_copies, ""},
};
DEFINE_OP_TABLE(ops_move, entries);

/* ---- setp and set (PTX ISA, "Comparison and Selection") -------------------------------------- */

/* Each comparison makes a mask of the lanes for which it holds. finish() combines the mask with
 * another predicate and writes the result of the instruction. */

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

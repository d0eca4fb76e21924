/* ops_bits.c — operations that count, find, move and combine bits (PTX ISA, "Integer Arithmetic"
 * and "Logic and Shift"). */
#include "ops.h"

static inline uint32_t reverse_32(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static inline uint64_t reverse_64(uint64_t a)
{
    return (uint64_t)reverse_32((uint32_t)a) << 32 | reverse_32((uint32_t)(a >> 32));
}

/* The number of ones: sums of ever wider fields, which vector instructions can compute. */
static inline uint32_t ones_32(uint32_t a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f;
    a += a >> 8;
    return (a + (a >> 16)) & 0x3f;
}
static inline uint32_t ones_64(uint64_t a)
{
    return ones_32((uint32_t)a) + ones_32((uint32_t)(a >> 32));
}

/* The number of zeros above the highest one, from the exponent of a float. The bit below the
 * highest one is cleared first, so that rounding does not change the exponent. The float of a
 * number with the top bit is negative. */
static inline int32_t zeros_above_32(uint32_t a)
{
    int32_t exponent = (int32_t)(bits_of_f32((float)(int32_t)(a & ~(a >> 1))) >> 23);
    int32_t zeros = 31 + 127 - exponent;
    zeros = zeros > 32 ? 32 : zeros; /* a = 0 */
    return zeros < 0 ? 0 : zeros;
}
static inline int32_t zeros_above_64(uint64_t a)
{
    int32_t high = zeros_above_32((uint32_t)(a >> 32)), low = zeros_above_32((uint32_t)a);
    return high == 32 ? 32 + low : high;
}

/* The position of the highest bit that is not a copy of the sign; all ones if all bits are. */
static inline uint32_t bfind_u32(uint32_t a) { return (uint32_t)(31 - zeros_above_32(a)); }
static inline uint32_t bfind_u64(uint64_t a) { return (uint32_t)(63 - zeros_above_64(a)); }
static inline uint32_t bfind_s32(int32_t a) { return bfind_u32((uint32_t)(a < 0 ? ~a : a)); }
static inline uint32_t bfind_s64(int64_t a) { return bfind_u64((uint64_t)(a < 0 ? ~a : a)); }
/* .shiftamt: the shift to the left that moves this bit to the top */
static inline uint32_t shift_amount(uint32_t position, uint32_t width)
{
    return position == ALL_LANES ? ALL_LANES : width - 1 - position;
}

/* clang-format off */
#define COUNT(X)                                                                                   \
    X(popc,       "popc",           u32, ones_32(a))                                               \
    X(popc,       "popc",           u64, ones_64(a))                                               \
    X(clz,        "clz",            u32, zeros_above_32(a))                                        \
    X(clz,        "clz",            u64, zeros_above_64(a))                                        \
    X(find,       "bfind",          u32, bfind_u32(a))                                             \
    X(find,       "bfind",          u64, bfind_u64(a))                                             \
    X(find,       "bfind",          s32, bfind_s32(a))                                             \
    X(find,       "bfind",          s64, bfind_s64(a))                                             \
    X(find_shift, "bfind.shiftamt", u32, shift_amount(bfind_u32(a), 32))                           \
    X(find_shift, "bfind.shiftamt", u64, shift_amount(bfind_u64(a), 64))                           \
    X(find_shift, "bfind.shiftamt", s32, shift_amount(bfind_s32(a), 32))                           \
    X(find_shift, "bfind.shiftamt", s64, shift_amount(bfind_s64(a), 64))
/* clang-format on */

#define UNARY(X) X(brev, "brev", u32, reverse_32(a)) X(brev, "brev", u64, reverse_64(a))

/* szext: the low b bits of a; the higher bits are zeros or copies of bit b - 1. */
static inline uint32_t zero_extend(uint32_t a, uint32_t b)
{
    return b > 31 ? a : a & ((UINT32_C(1) << b) - 1);
}
static inline uint32_t sign_extend(uint32_t a, uint32_t b)
{
    return b > 31 ? a : b == 0 ? 0 : (uint32_t)((int32_t)(a << (32 - b)) >> (32 - b));
}

/* A mask of b bits from bit a upward; .clamp stops at the top, .wrap takes both modulo 32. */
static inline uint32_t bit_mask(uint32_t a, uint32_t b)
{
    uint32_t ones = b > 31 ? ALL_LANES : (UINT32_C(1) << b) - 1;
    return a > 31 ? 0 : ones << a;
}
#define BINARY(X)                                                                                  \
    X(bmsk_clamp, "bmsk.clamp", u32, bit_mask(a, b))                                               \
    X(bmsk_wrap, "bmsk.wrap", u32, bit_mask(a & 31, b & 31))                                       \
    X(szext_clamp, "szext.clamp", u32, zero_extend(a, b))                                          \
    X(szext_wrap, "szext.wrap", u32, zero_extend(a, b & 31))                                       \
    X(szext_clamp, "szext.clamp", s32, sign_extend((uint32_t)a, (uint32_t)b))                      \
    X(szext_wrap, "szext.wrap", s32, sign_extend((uint32_t)a, (uint32_t)b & 31))

/* Funnel shifts take 32 of the 64 bits b:a; d = a, b, c. Here c is below 32. */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t c)
{
    return b << c | a >> 1 >> (31 - c);
}
static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t c)
{
    return a >> c | b << 1 << (31 - c);
}

/* prmt: a nibble of c chooses each byte of the result among the eight bytes of b:a. The nibble's
 * top bit replaces the byte by copies of its sign. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint32_t result = 0;
    for (int n = 0; n < 4; n++) {
        uint32_t selector = selectors >> 4 * n, source = selector & 4 ? b : a;
        int32_t byte = (int32_t)(source >> 8 * (selector & 3) << 24);
        uint32_t chosen = (uint32_t)(selector & 8 ? byte >> 7 : byte);
        result |= (chosen & 0xff000000) >> (24 - 8 * n);
    }
    return result;
}
/* The modes of prmt as selectors for each value of c's low two bits (PTX ISA, prmt). */
static inline uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const uint16_t *selectors)
{
    return permute(a, b, selectors[c & 3]);
}
static const uint16_t forward_4[] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t backward_4[] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t replicate_8[] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t edge_left[] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t edge_right[] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t replicate_16[] = {0x1010, 0x3232, 0x1010, 0x3232};

/* fns: the position of the n-th set bit of a from bit b on; n < 0 searches downward; n = 0 asks for
 * bit b itself. */
static inline uint32_t find_nth(uint32_t a, uint32_t base, int32_t n)
{
    if (base > 31) return ALL_LANES;
    if (n == 0) return a >> base & 1 ? base : ALL_LANES;
    int step = n > 0 ? 1 : -1;
    uint32_t left = n > 0 ? (uint32_t)n : 0 - (uint32_t)n;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
        if (a >> bit & 1 && --left == 0) return (uint32_t)bit;
    return ALL_LANES;
}

#define TERNARY(X)                                                                                 \
    X(shf_l_clamp, "shf.l.clamp", u32, c > 31 ? a : funnel_left(a, b, c & 31))                     \
    X(shf_l_wrap, "shf.l.wrap", u32, funnel_left(a, b, c & 31))                                    \
    X(shf_r_clamp, "shf.r.clamp", u32, c > 31 ? b : funnel_right(a, b, c & 31))                    \
    X(shf_r_wrap, "shf.r.wrap", u32, funnel_right(a, b, c & 31))                                   \
    X(prmt, "prmt", u32, permute(a, b, c))                                                         \
    X(prmt_f4e, "prmt.f4e", u32, permute_mode(a, b, c, forward_4))                                 \
    X(prmt_b4e, "prmt.b4e", u32, permute_mode(a, b, c, backward_4))                                \
    X(prmt_rc8, "prmt.rc8", u32, permute_mode(a, b, c, replicate_8))                               \
    X(prmt_ecl, "prmt.ecl", u32, permute_mode(a, b, c, edge_left))                                 \
    X(prmt_ecr, "prmt.ecr", u32, permute_mode(a, b, c, edge_right))                                \
    X(prmt_rc16, "prmt.rc16", u32, permute_mode(a, b, c, replicate_16))                            \
    X(fns, "fns", u32, find_nth(a, b, (int32_t)c))

/* Positions and lengths of bfe and bfi. PTX restricts them to 0..255. Beyond that, an H200 uses the
 * low byte in 32-bit operations and the whole number in 64-bit operations. */
static inline uint32_t bit_count(uint32_t operand, uint32_t width)
{
    uint32_t count = width == 64 ? operand : operand & 0xff;
    return count > width ? width : count;
}

/* `length` ones from bit `position` on, within the width of the type. */
#define FIELD(type, width, position, length)                                                       \
    ((position) >= (width)                                                                         \
         ? 0                                                                                       \
         : ((length) >= (width) ? ~(T_##type)0 : ((T_##type)1 << ((length) & (width - 1))) - 1)    \
               << ((position) & (width - 1)))

/* bfe: c bits of a from bit b on, extended by zeros or by the field's top bit (by a's top bit if
 * the field reaches beyond a). */
#define EXTRACT(type, width)                                                                       \
    static inline T_##type extract_##type(T_##type a, uint32_t b, uint32_t c)                      \
    {                                                                                              \
        uint32_t position = bit_count(b, width), length = bit_count(c, width);                     \
        T_##type ones = FIELD(type, width, 0, length);                                             \
        return position >= width ? 0 : a >> (position & (width - 1)) & ones;                       \
    }
EXTRACT(u32, 32)
EXTRACT(u64, 64)
/* The field is moved to the top, and back with copies of its top bit. */
#define EXTRACT_SIGNED(type, bits, width)                                                          \
    static inline T_##type extract_##type(T_##type a, uint32_t b, uint32_t c)                      \
    {                                                                                              \
        uint32_t position = bit_count(b, width), length = bit_count(c, width);                     \
        uint32_t above = position + length < width ? width - position - length : 0;                \
        uint32_t below = above + position < width ? above + position : width - 1;                  \
        T_##type top = (T_##type)((T_##bits)a << (above & (width - 1)));                           \
        return length ? top >> below : 0;                                                          \
    }
EXTRACT_SIGNED(s32, u32, 32)
EXTRACT_SIGNED(s64, u64, 64)
#define DEFINE_EXTRACT(type)                                                                       \
    static void bfe_##type(struct warp *w, const struct insn *i, uint32_t mask)                    \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a);                                                     \
        const lane_32 *b = LANES(u32, i->b), *c = LANES(u32, i->c);                                \
        FOR_LANES(d, (U_##type)extract_##type((T_##type)a[l], b[l], c[l]));                        \
    }
DEFINE_EXTRACT(u32)
DEFINE_EXTRACT(s32)
DEFINE_EXTRACT(u64)
DEFINE_EXTRACT(s64)

/* bfi: replaces d bits of b, from bit c on, by the lowest bits of a. */
#define DEFINE_INSERT(type, width)                                                                 \
    static inline T_##type insert_##type(T_##type a, T_##type b, uint32_t c, uint32_t d)           \
    {                                                                                              \
        uint32_t position = bit_count(c, width), length = bit_count(d, width);                     \
        T_##type field = FIELD(type, width, position, length);                                     \
        return (b & ~field) | (a << (position & (width - 1)) & field);                             \
    }                                                                                              \
    static void bfi_##type(struct warp *w, const struct insn *i, uint32_t mask)                    \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        const lane_32 *c = LANES(u32, i->c), *e = LANES(u32, i->arithmetic.fourth);                \
        FOR_LANES(d, insert_##type(a[l], b[l], c[l], e[l]));                                       \
    }
DEFINE_INSERT(u32, 32)
DEFINE_INSERT(u64, 64)

/* lop3: any function of three bits, given as its truth table, whose bit 4a + 2b + c is the value.
 * Its low half is a function of b and c, for a = 0; where the halves differ, a changes the value.
 * A function of b and c is a sum (exclusive or) of 1, c, b and b & c: which of these is part of it
 * follows from its table of four bits. */
#define ALWAYS    static inline __attribute__((always_inline))
#define MASK(bit) (0 - (uint32_t)((bit)&1)) /* all ones or 0 */
ALWAYS uint32_t function_of_two(uint32_t n, uint32_t b, uint32_t c)
{
    return MASK(n) ^ (c & MASK(n ^ n >> 1)) ^
           (b & (MASK(n ^ n >> 2) ^ (c & MASK(n ^ n >> 1 ^ n >> 2 ^ n >> 3))));
}
ALWAYS uint32_t function_of_three(uint32_t table, uint32_t a, uint32_t b, uint32_t c)
{
    return function_of_two(table, b, c) ^ (a & function_of_two(table ^ table >> 4, b, c));
}

/* A loop for each table, in which the compiler keeps the few operations that the table needs. Their
 * code is long, so there are such loops for AVX2 only, and for all lanes. */
#if defined __AVX2__
/* clang-format off */
#define TABLES_16(X, n)                                                                            \
    X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)                                \
    X(n##8) X(n##9) X(n##a) X(n##b) X(n##c) X(n##d) X(n##e) X(n##f)
#define TABLES_256(X)                                                                              \
    TABLES_16(X, 0x0) TABLES_16(X, 0x1) TABLES_16(X, 0x2) TABLES_16(X, 0x3)                        \
    TABLES_16(X, 0x4) TABLES_16(X, 0x5) TABLES_16(X, 0x6) TABLES_16(X, 0x7)                        \
    TABLES_16(X, 0x8) TABLES_16(X, 0x9) TABLES_16(X, 0xa) TABLES_16(X, 0xb)                        \
    TABLES_16(X, 0xc) TABLES_16(X, 0xd) TABLES_16(X, 0xe) TABLES_16(X, 0xf)
/* clang-format on */
#define DEFINE_TABLE(n)                                                                            \
    static void by_table_##n(lane_32 *d, const lane_32 *a, const lane_32 *b, const lane_32 *c)     \
    {                                                                                              \
        INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = function_of_three(n, a[l], b[l], c[l]);  \
    }
TABLES_256(DEFINE_TABLE)
#define NAME_TABLE(n) by_table_##n,
static void (*const by_table[256])(lane_32 *, const lane_32 *, const lane_32 *,
                                   const lane_32 *) = {TABLES_256(NAME_TABLE)};
#endif

static void lop3_u32(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_32 *d = LANES(u32, i->d);
    const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b), *c = LANES(u32, i->c);
    uint32_t table = i->logic.table;
#if defined __AVX2__
    if (mask == ALL_LANES) {
        by_table[table](d, a, b, c);
        return;
    }
#endif
    FOR_LANES(d, function_of_three(table, a[l], b[l], c[l]));
}

/* .and, .or: the predicate (result != 0), combined with another predicate */
static void lop3_predicate(struct warp *w, const struct insn *i, uint32_t mask)
{
    lop3_u32(w, i, mask);
    const lane_32 *d = LANES(u32, i->d);
    uint32_t holds = 0;
    uint32_t q = *(uint32_t *)slot_at(w, i->logic.other) ^ (i->logic.negated ? ALL_LANES : 0);
    for (int l = 0; l < WARP; l++) holds |= (uint32_t)(d[l] != 0) << l;
    holds = i->logic.combine == COMBINE_AND ? holds & q : holds | q;
    set_predicate(w, i->logic.predicate, mask, holds);
}

COUNT(DEFINE_COUNT)
UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)
TERNARY(DEFINE_TERNARY)

static const struct op entries[] = {
    COUNT(ENTRY_COUNT) UNARY(ENTRY_UNARY) BINARY(ENTRY_BINARY) TERNARY(ENTRY_TERNARY)
    {"bfe.u32", bfe_u32, "4444"}, {"bfe.s32", bfe_s32, "4444"},
    {"bfe.u64", bfe_u64, "8844"}, {"bfe.s64", bfe_s64, "8844"},
    {"bfi.u32", bfi_u32, "44444"}, {"bfi.u64", bfi_u64, "88844"},
    {"lop3.predicate", lop3_predicate, ""},
    {"lop3.u32", lop3_u32, "4444t"}, /* t: the truth table, an immediate */
};
DEFINE_OP_TABLE(ops_bits, entries);

/* ops_integer.c — integer arithmetic, division, and the SIMD video instructions. */
#include "ops.h"

/* ---- integer arithmetic ---------------------------------------------------------------------- */

/* Integer arithmetic, logic and shifts (PTX ISA, "Integer Arithmetic", "Logic and Shift"). */

#if defined __AVX2__
#include <immintrin.h>
#endif

/* Division by zero gives all ones, and so does its remainder, as on the hardware. The only quotient
 * that does not fit, INT_MIN / -1, wraps around. (64 bits: below.)
 *
 * Integers of up to 32 bits are divided as floats, since vector instructions divide only those. The
 * rounding error of the quotient is less than 1 / b: it does not reach the next integer. */
#define DEFINE_QUOTIENT(type, wide)                                                                \
    static inline T_##type quotient_##type(T_##type a, T_##type b)                                 \
    {                                                                                              \
        T_##type quotient = (T_##type)((wide)a / (wide)(b ? b : 1));                               \
        return b ? quotient : (T_##type) - 1;                                                      \
    }
#define DEFINE_SIGNED_QUOTIENT(type, wide)                                                         \
    static inline T_##type quotient_##type(T_##type a, T_##type b)                                 \
    {                                                                                              \
        T_##type quotient = (T_##type)((wide)a / (wide)(b == 0 || b == -1 ? 1 : b));               \
        return b == 0 ? -1 : b == -1 ? (T_##type)(0 - (U_##type)a) : quotient;                     \
    }
DEFINE_QUOTIENT(u16, float)
DEFINE_SIGNED_QUOTIENT(s16, float)
DEFINE_QUOTIENT(u32, double)
DEFINE_SIGNED_QUOTIENT(s32, double)
#define REMAINDER(type, a, b)                                                                      \
    ((b) ? (uint32_t)(a) - (uint32_t)quotient_##type(a, b) * (uint32_t)(b) : UINT32_MAX)

#define UNARY(X)                                                                                   \
    X(neg, "neg", s16, 0 - (uint32_t)a) X(neg, "neg", s32, 0 - (uint32_t)a)                        \
    X(neg, "neg", s64, 0 - (uint64_t)a)                                                            \
    X(abs, "abs", s16, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)                                      \
    X(abs, "abs", s32, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)                                      \
    X(abs, "abs", s64, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)                                      \
    X(not, "not", u16, ~a) X(not, "not", u32, ~a) X(not, "not", u64, ~a)                           \
    X(cnot, "cnot", u16, !a) X(cnot, "cnot", u32, !a) X(cnot, "cnot", u64, !a)

/* clang-format off */
#define BINARY(X)                                                                                  \
    X(add,      "add",      u16, a + b)                                                            \
    X(add,      "add",      u32, a + b)                                                            \
    X(add,      "add",      u64, a + b)                                                            \
    X(sub,      "sub",      u16, a - b)                                                            \
    X(sub,      "sub",      u32, a - b)                                                            \
    X(sub,      "sub",      u64, a - b)                                                            \
    X(mul_lo,   "mul.lo",   u16, (uint32_t)a * b)                                                  \
    X(mul_lo,   "mul.lo",   u32, a * b)                                                            \
    X(mul_lo,   "mul.lo",   u64, a * b)                                                            \
    X(mul_hi,   "mul.hi",   u16, (uint32_t)a * b >> 16)                                            \
    X(mul_hi,   "mul.hi",   s16, a * b >> 16)                                                      \
    X(mul_hi,   "mul.hi",   u64, (unsigned __int128)a * b >> 64)                                   \
    X(mul_hi,   "mul.hi",   s64, (__int128)a * b >> 64)                                            \
    X(div,      "div",      u16, quotient_u16(a, b))                                               \
    X(div,      "div",      s16, quotient_s16(a, b))                                               \
    X(div,      "div",      u32, quotient_u32(a, b))                                               \
    X(div,      "div",      s32, quotient_s32(a, b))                                               \
    X(rem,      "rem",      u16, REMAINDER(u16, a, b))                                             \
    X(rem,      "rem",      s16, REMAINDER(s16, a, b))                                             \
    X(rem,      "rem",      u32, REMAINDER(u32, a, b))                                             \
    X(rem,      "rem",      s32, REMAINDER(s32, a, b))                                             \
    X(min,      "min",      u16, a < b ? a : b)                                                    \
    X(min,      "min",      s16, a < b ? a : b)                                                    \
    X(min,      "min",      u32, a < b ? a : b)                                                    \
    X(min,      "min",      s32, a < b ? a : b)                                                    \
    X(min,      "min",      u64, a < b ? a : b)                                                    \
    X(min,      "min",      s64, a < b ? a : b)                                                    \
    X(max,      "max",      u16, a > b ? a : b)                                                    \
    X(max,      "max",      s16, a > b ? a : b)                                                    \
    X(max,      "max",      u32, a > b ? a : b)                                                    \
    X(max,      "max",      s32, a > b ? a : b)                                                    \
    X(max,      "max",      u64, a > b ? a : b)                                                    \
    X(max,      "max",      s64, a > b ? a : b)                                                    \
    X(and,      "and",      u16, a & b)                                                            \
    X(and,      "and",      u32, a & b)                                                            \
    X(and,      "and",      u64, a & b)                                                            \
    X(or,       "or",       u16, a | b)                                                            \
    X(or,       "or",       u32, a | b)                                                            \
    X(or,       "or",       u64, a | b)                                                            \
    X(xor,      "xor",      u16, a ^ b)                                                            \
    X(xor,      "xor",      u32, a ^ b)                                                            \
    X(xor,      "xor",      u64, a ^ b)                                                            \
    X(add_sat,  "add.sat",  s32, add_saturated(a, b))                                              \
    X(sub_sat,  "sub.sat",  s32, sub_saturated(a, b))                                              \
    X(min_relu, "min.relu", s32, POSITIVE(a < b ? a : b))                                          \
    X(max_relu, "max.relu", s32, POSITIVE(a > b ? a : b))
/* clang-format on */
#define POSITIVE(a) ((a) < 0 ? 0 : (a))
/* Of signed numbers without an overflow. */
#define DISTANCE(type, a, b)                                                                       \
    ((a) < (b) ? (U_##type)(b) - (U_##type)(a) : (U_##type)(a) - (U_##type)(b))

/* clang-format off */
#define TERNARY(X)                                                                                 \
    X(mad_lo, "mad.lo", u16, (uint32_t)a * b + c)                                                  \
    X(mad_lo, "mad.lo", u32, a * b + c)                                                            \
    X(mad_lo, "mad.lo", u64, a * b + c)                                                            \
    X(mad_hi, "mad.hi", u16, ((uint32_t)a * b >> 16) + c)                                          \
    X(mad_hi, "mad.hi", s16, (a * b >> 16) + c)                                                    \
    X(mad_hi, "mad.hi", u64, (uint64_t)((unsigned __int128)a * b >> 64) + c)                       \
    X(mad_hi, "mad.hi", s64, (uint64_t)((__int128)a * b >> 64) + (uint64_t)c)                      \
    X(sad,    "sad",    u16, c + (a < b ? b - a : a - b))                                          \
    X(sad,    "sad",    s16, c + (a < b ? b - a : a - b))                                          \
    X(sad,    "sad",    u32, c + (a < b ? b - a : a - b))                                          \
    X(sad,    "sad",    s32, (uint32_t)c + DISTANCE(s32, a, b))                               \
    X(sad,    "sad",    u64, c + (a < b ? b - a : a - b))                                          \
    X(sad,    "sad",    s64, (uint64_t)c + DISTANCE(s64, a, b))
/* clang-format on */

/* A shift by the width or more gives 0 or copies of the sign. */
#define SHIFT(X)                                                                                   \
    X(shl, "shl", u16, b > 15 ? 0 : a << b) X(shl, "shl", u32, b > 31 ? 0 : a << b)                \
    X(shl, "shl", u64, b > 63 ? 0 : a << b)                                                        \
    X(shr, "shr", u16, b > 15 ? 0 : a >> b) X(shr, "shr", s16, a >> (b > 15 ? 15 : b))             \
    X(shr, "shr", u32, b > 31 ? 0 : a >> b) X(shr, "shr", s32, a >> (b > 31 ? 31 : b))             \
    X(shr, "shr", u64, b > 63 ? 0 : a >> b) X(shr, "shr", s64, a >> (b > 63 ? 63 : b))

/* The sum's sign is wrong if both operands have the other one; then the first operand's sign tells
 * the limit. */
static inline int32_t add_saturated(int32_t a, int32_t b)
{
    int32_t sum = (int32_t)((uint32_t)a + (uint32_t)b), limit = (a >> 31) ^ INT32_MAX;
    return ((sum ^ a) & (sum ^ b)) < 0 ? limit : sum;
}
static inline int32_t sub_saturated(int32_t a, int32_t b)
{
    int32_t difference = (int32_t)((uint32_t)a - (uint32_t)b), limit = (a >> 31) ^ INT32_MAX;
    return ((a ^ b) & (difference ^ a)) < 0 ? limit : difference;
}
static inline int32_t saturate(int64_t value)
{
    return (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)
TERNARY(DEFINE_TERNARY)
SHIFT(DEFINE_SHIFT)

/* mul.wide and mad.wide: the result is twice as wide as a and b. */
#define WIDE(X) X(u16, u32) X(s16, s32)
#define DEFINE_WIDE(type, wide)                                                                    \
    static void mul_wide_##type(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        L_##wide *d = LANES(wide, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        FOR_LANES(d, (U_##wide)((T_##wide)(T_##type)a[l] * (T_##wide)(T_##type)b[l]));             \
    }                                                                                              \
    static void mad_wide_##type(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        L_##wide *d = LANES(wide, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        const L_##wide *c = LANES(wide, i->c);                                                     \
        FOR_LANES(d, (U_##wide)((T_##wide)(T_##type)a[l] * (T_##wide)(T_##type)b[l]) + c[l]);      \
    }
#define ENTRY_WIDE(type, wide)                                                                     \
    {"mul.wide." #type, mul_wide_##type, W_##wide W_##type W_##type},                              \
    {"mad.wide." #type, mad_wide_##type, W_##wide W_##type W_##type W_##wide},
WIDE(DEFINE_WIDE)

/* ---- products of 64 bits. The CPU multiplies every other lane of a vector. ------------------- */

#if defined __AVX2__
#define PRODUCT_u32 _mm256_mul_epu32
#define PRODUCT_s32 _mm256_mul_epi32
#define LOAD_256(a) _mm256_loadu_si256((const __m256i *)(a))
#define DEFINE_PRODUCTS(type, wide)                                                                \
    static inline void high_products_##type(lane_32 *d, const lane_32 *a, const lane_32 *b)        \
    {                                                                                              \
        for (int l = 0; l < WARP; l += 8) {                                                        \
            __m256i p = LOAD_256(a + l), q = LOAD_256(b + l);                                      \
            __m256i even = _mm256_srli_epi64(PRODUCT_##type(p, q), 32);                            \
            __m256i odd = PRODUCT_##type(_mm256_srli_epi64(p, 32), _mm256_srli_epi64(q, 32));      \
            _mm256_storeu_si256((__m256i *)(d + l), _mm256_blend_epi32(even, odd, 0xaa));          \
        }                                                                                          \
    }                                                                                              \
    static inline void products_##type(lane_64 *d, const lane_32 *a, const lane_32 *b)             \
    {                                                                                              \
        const __m256i apart = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);                           \
        for (int l = 0; l < WARP; l += 8) {                                                        \
            __m256i p = _mm256_permutevar8x32_epi32(LOAD_256(a + l), apart);                       \
            __m256i q = _mm256_permutevar8x32_epi32(LOAD_256(b + l), apart);                       \
            __m256i high = PRODUCT_##type(_mm256_srli_epi64(p, 32), _mm256_srli_epi64(q, 32));     \
            _mm256_storeu_si256((__m256i *)(d + l), PRODUCT_##type(p, q));                         \
            _mm256_storeu_si256((__m256i *)(d + l + 4), high);                                     \
        }                                                                                          \
    }
#else
#define DEFINE_PRODUCTS(type, wide)                                                                \
    static inline void high_products_##type(lane_32 *d, const lane_32 *a, const lane_32 *b)        \
    {                                                                                              \
        INDEPENDENT for (int l = 0; l < WARP; l++) d[l] =                                          \
            (uint32_t)((T_##wide)(T_##type)a[l] * (T_##type)b[l] >> 32);                           \
    }                                                                                              \
    static inline void products_##type(lane_64 *d, const lane_32 *a, const lane_32 *b)             \
    {                                                                                              \
        INDEPENDENT for (int l = 0; l < WARP; l++) d[l] =                                          \
            (uint64_t)((T_##wide)(T_##type)a[l] * (T_##type)b[l]);                                 \
    }
#endif

#define PRODUCTS(X) X(u32, u64) X(s32, s64)
#define DEFINE_PRODUCT_OPERATIONS(type, wide)                                                      \
    static void mul_hi_##type(struct warp *w, const struct insn *i, uint32_t mask)                 \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d), product[WARP];                                              \
        high_products_##type(mask == ALL_LANES ? d : product, LANES(u32, i->a), LANES(u32, i->b)); \
        if (mask != ALL_LANES) FOR_LANES(d, product[l]);                                           \
    }                                                                                              \
    static void mul_wide_##type(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_64 *d = LANES(u64, i->d), product[WARP];                                              \
        products_##type(mask == ALL_LANES ? d : product, LANES(u32, i->a), LANES(u32, i->b));      \
        if (mask != ALL_LANES) FOR_LANES(d, product[l]);                                           \
    }                                                                                              \
    static void mad_hi_##type(struct warp *w, const struct insn *i, uint32_t mask)                 \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d), product[WARP];                                              \
        const lane_32 *c = LANES(u32, i->c);                                                       \
        high_products_##type(product, LANES(u32, i->a), LANES(u32, i->b));                         \
        FOR_LANES(d, product[l] + c[l]);                                                           \
    }                                                                                              \
    static void mad_wide_##type(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_64 *d = LANES(u64, i->d), product[WARP];                                              \
        const lane_64 *c = LANES(u64, i->c);                                                       \
        products_##type(product, LANES(u32, i->a), LANES(u32, i->b));                              \
        FOR_LANES(d, product[l] + c[l]);                                                           \
    }
#define ENTRY_PRODUCT(type, wide)                                                                  \
    {"mul.hi." #type, mul_hi_##type, "444"}, {"mad.hi." #type, mad_hi_##type, "4444"},             \
        {"mul.wide." #type, mul_wide_##type, "844"}, {"mad.wide." #type, mad_wide_##type, "8448"},
PRODUCTS(DEFINE_PRODUCTS)
PRODUCTS(DEFINE_PRODUCT_OPERATIONS)

/* The 24-bit products of old hardware: only the low 24 bits of a and b count. */
static inline int32_t low24(uint32_t a) { return (int32_t)(a << 8) >> 8; }
#define BINARY_24(X)                                                                               \
    X(mul24_lo, "mul24.lo", u32, (a & 0xffffff) * (b & 0xffffff))                                  \
    X(mul24_lo, "mul24.lo", s32, (uint32_t)low24((uint32_t)a) * (uint32_t)low24((uint32_t)b))      \
    X(mul24_hi, "mul24.hi", u32, (uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16)                  \
    X(mul24_hi, "mul24.hi", s32, (int64_t)low24((uint32_t)a) * low24((uint32_t)b) >> 16)
BINARY_24(DEFINE_BINARY)
#define TERNARY_24(X)                                                                              \
    X(mad24_lo, "mad24.lo", u32, (a & 0xffffff) * (b & 0xffffff) + c)                              \
    X(mad24_lo, "mad24.lo", s32,                                                                   \
      (uint32_t)low24((uint32_t)a) * (uint32_t)low24((uint32_t)b) + (uint32_t)c)                   \
    X(mad24_hi, "mad24.hi", u32, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16) + c)  \
    X(mad24_hi, "mad24.hi", s32,                                                                   \
      (uint32_t)((int64_t)low24((uint32_t)a) * low24((uint32_t)b) >> 16) + (uint32_t)c)            \
    X(mad24_hi_sat, "mad24.hi.sat", s32,                                                           \
      saturate(((int64_t)low24((uint32_t)a) * low24((uint32_t)b) >> 16) + c))                      \
    X(mad_hi_sat, "mad.hi.sat", s32, add_saturated((int32_t)((int64_t)a * b >> 32), c))
TERNARY_24(DEFINE_TERNARY)

/* Sums with carry: add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi and so on. The carry flag is one
 * bit per lane. A difference is a + ~b + 1, so after it the flag says that there was no borrow, and
 * subc takes the flag in place of the 1: PTX leaves this open. GPUs do it in this way
 * (profiles/h200/carries.csv), and nvcc's 128-bit division relies on it. */
static inline uint32_t carry_in(const struct warp *w, const struct insn *i, int l, uint32_t usual)
{
    return i->arithmetic.carry_in ? w->carry >> l & 1 : usual;
}

static inline void carry_out(struct warp *w, const struct insn *i, uint32_t mask, uint32_t carries)
{
    if (i->arithmetic.carry_out) w->carry = (w->carry & ~mask) | (carries & mask);
}

/* The sum of two numbers of a type, and the carry. */
#define DEFINE_SUM(name, type, bits, twice, first, second, usual)                                  \
    static void name##_carry_##type(struct warp *w, const struct insn *i, uint32_t mask)           \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        uint32_t carries = 0;                                                                      \
        for (int l = 0; l < WARP; l++) {                                                           \
            if (!(mask >> l & 1)) continue;                                                        \
            twice sum = (twice)(T_##bits)(first) + (T_##bits)(second) + carry_in(w, i, l, usual);  \
            carries |= (uint32_t)(sum >> 8 * sizeof a[l] & 1) << l;                                \
            d[l] = (T_##bits)sum;                                                                  \
        }                                                                                          \
        carry_out(w, i, mask, carries);                                                            \
    }
/* The high half of a signed product differs from the unsigned one. */
#define HIGH(type, twice) ((twice)(T_##type)a[l] * (T_##type)b[l] >> 8 * sizeof a[l])
#define CARRY(X)                                                                                   \
    X(u32, s32, unsigned long long, long long) X(u64, s64, unsigned __int128, __int128)
#define DEFINE_CARRY(type, signed_type, twice, signed_twice)                                       \
    DEFINE_SUM(add, type, type, twice, a[l], b[l], 0)                                              \
    DEFINE_SUM(sub, type, type, twice, a[l], ~b[l], 1)                                             \
    DEFINE_SUM(mad_lo, type, type, twice, a[l] * b[l], LANES(type, i->c)[l], 0)                    \
    DEFINE_SUM(mad_hi, type, type, twice, HIGH(type, twice), LANES(type, i->c)[l], 0)              \
    DEFINE_SUM(mad_hi, signed_type, type, twice, HIGH(signed_type, signed_twice),                  \
               LANES(type, i->c)[l], 0)
CARRY(DEFINE_CARRY)

/* Two 16-bit numbers in one register. */
#define PAIRS(X)                                                                                   \
    X(add, u16, a + b) X(min, u16, a < b ? a : b) X(min, s16, a < b ? a : b)                       \
    X(max, u16, a > b ? a : b) X(max, s16, a > b ? a : b)
#define RELU_PAIRS(X)                                                                              \
    X(min_relu, s16, POSITIVE(a < b ? a : b)) X(max_relu, s16, POSITIVE(a > b ? a : b))
#define DEFINE_PAIR(id, type, value)                                                               \
    static inline uint32_t id##_##type##_half(T_##type a, T_##type b)                              \
    {                                                                                              \
        return (uint16_t)(value);                                                                  \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, id##_##type##_half((T_##type)a[l], (T_##type)b[l]) |                          \
                         id##_##type##_half((T_##type)(a[l] >> 16), (T_##type)(b[l] >> 16))        \
                             << 16);                                                               \
    }
#define ENTRY_PAIR(id, type, value) {#id "." #type "x2", id##_##type##x2, "444"},
PAIRS(DEFINE_PAIR)
RELU_PAIRS(DEFINE_PAIR)

/* Four or two products of bytes (and halves of a 32-bit word), summed with c: dp4a, dp2a. */
static inline int32_t byte_of(uint32_t word, int n, bool is_signed)
{
    uint32_t byte = word >> 8 * n & 0xff;
    return is_signed ? (int8_t)byte : (int32_t)byte;
}
static inline int32_t half_of(uint32_t word, int n, bool is_signed)
{
    uint32_t half = word >> 16 * n & 0xffff;
    return is_signed ? (int16_t)half : (int32_t)half;
}
#define DOT_PRODUCTS(X)                                                                            \
    X(u32, u32, false, false) X(u32, s32, false, true)                                             \
    X(s32, u32, true, false) X(s32, s32, true, true)
#define DEFINE_DOT(ta, tb, sa, sb)                                                                 \
    static inline uint32_t dp2a_lane_##ta##_##tb(uint32_t a, uint32_t b, uint32_t c, int high)     \
    {                                                                                              \
        for (int n = 0; n < 2; n++)                                                                \
            c += (uint32_t)(half_of(a, n, sa) * byte_of(b, n + 2 * high, sb));                     \
        return c;                                                                                  \
    }                                                                                              \
    static inline uint32_t dp4a_lane_##ta##_##tb(uint32_t a, uint32_t b, uint32_t c)               \
    {                                                                                              \
        for (int n = 0; n < 4; n++) c += (uint32_t)(byte_of(a, n, sa) * byte_of(b, n, sb));        \
        return c;                                                                                  \
    }                                                                                              \
    DEFINE_TERNARY(dp4a_##ta##_##tb, , u32, dp4a_lane_##ta##_##tb(a, b, c))                        \
    DEFINE_TERNARY(dp2a_lo_##ta##_##tb, , u32, dp2a_lane_##ta##_##tb(a, b, c, 0))                  \
    DEFINE_TERNARY(dp2a_hi_##ta##_##tb, , u32, dp2a_lane_##ta##_##tb(a, b, c, 1))
#define ENTRY_DOT(ta, tb, sa, sb)                                                                  \
    {"dp4a." #ta "." #tb, dp4a_##ta##_##tb##_u32, "4444"},                                         \
    {"dp2a.lo." #ta "." #tb, dp2a_lo_##ta##_##tb##_u32, "4444"},                                   \
    {"dp2a.hi." #ta "." #tb, dp2a_hi_##ta##_##tb##_u32, "4444"},
DOT_PRODUCTS(DEFINE_DOT)

static const struct op entries[] = {
    UNARY(ENTRY_UNARY) BINARY(ENTRY_BINARY) TERNARY(ENTRY_TERNARY) SHIFT(ENTRY_SHIFT)
        WIDE(ENTRY_WIDE) PRODUCTS(ENTRY_PRODUCT) BINARY_24(ENTRY_BINARY) TERNARY_24(ENTRY_TERNARY)
            DOT_PRODUCTS(ENTRY_DOT){"add.carry.u32", add_carry_u32, "444"},
    {"add.carry.u64", add_carry_u64, "888"},
    {"sub.carry.u32", sub_carry_u32, "444"},
    {"sub.carry.u64", sub_carry_u64, "888"},
    {"mad.lo.carry.u32", mad_lo_carry_u32, "4444"},
    {"mad.lo.carry.u64", mad_lo_carry_u64, "8888"},
    {"mad.hi.carry.u32", mad_hi_carry_u32, "4444"},
    {"mad.hi.carry.u64", mad_hi_carry_u64, "8888"},
    {"mad.hi.carry.s32", mad_hi_carry_s32, "4444"},
    {"mad.hi.carry.s64", mad_hi_carry_s64, "8888"},
    PAIRS(ENTRY_PAIR){"min.relu.s16x2", min_relu_s16x2, "444"},
    {"max.relu.s16x2", max_relu_s16x2, "444"},
};
DEFINE_OP_TABLE(ops_integer, entries);

/* ---- division of 64-bit integers (PTX ISA, "div", "rem") ------------------------------------- */

/* CPUs have no vector instruction for it. Numbers of up to 48 bits, such as indices, are divided as
 * doubles; a divisor that all lanes share is inverted once. Larger numbers are divided lane by
 * lane. */

/* Division by zero gives all ones, and so does its remainder, as on the hardware. The only quotient
 * that does not fit, INT64_MIN / -1, wraps around. */
static inline uint64_t divide_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t remainder_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
static inline uint64_t divide_s64(uint64_t a, uint64_t b)
{
    return b == 0 ? UINT64_MAX : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}
static inline uint64_t remainder_s64(uint64_t a, uint64_t b)
{
    return b == 0 ? UINT64_MAX : b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

enum { DIGITS = 48 };
#define SCALE 0x1.8p52 /* a whole number plus this one: its bits are the last ones of the sum */

INLINE double number_of(uint64_t value) { return f64_of_bits(value | bits_of_f64(SCALE)) - SCALE; }

/* All ones if a signed number is negative, else 0; and a number with its sign changed if so. */
INLINE uint64_t sign_of(uint64_t a) { return 0 - (a >> 63); }
INLINE uint64_t with_sign(uint64_t a, uint64_t sign) { return (a ^ sign) - sign; }

/* Have the numbers of all lanes up to 48 bits, and is no divisor 0? */
INLINE bool are_small(const lane_64 *a, const lane_64 *b)
{
    uint64_t all = 0;
    EVERY_LANE all |= a[l] | b[l] | (b[l] - 1);
    return !(all >> DIGITS);
}

INLINE bool are_same(const lane_64 *b)
{
    uint64_t differ = 0;
    EVERY_LANE differ |= b[l] ^ b[0];
    return !differ;
}

/* Divides small numbers; is_same: by one that all lanes share. The first quotient is too low by
 * less than 1/4, and becomes a whole number that is right or too low by 1. Products and sums are
 * exact from then on. */
INLINE void divide_by(uint64_t *result, const lane_64 *a, const lane_64 *b, bool remainder,
                      bool is_same)
{
    const double lower = 1 - 0x1p-51;
    double first = number_of(b[0]), inverse = 1 / first * lower;
    EVERY_LANE
    {
        double n = number_of(a[l]), d = is_same ? first : number_of(b[l]);
        double sum = (is_same ? n * inverse : n / d * lower) - 0.5 + SCALE;
        double rest = n - (sum - SCALE) * d;
        result[l] = remainder ? bits_of_f64(rest - (rest >= d ? d : 0) + SCALE) - bits_of_f64(SCALE)
                              : bits_of_f64(sum) - bits_of_f64(SCALE) + (rest >= d);
    }
}

INLINE void divide_small(uint64_t *result, const lane_64 *a, const lane_64 *b, bool remainder)
{
    if (are_same(b))
        divide_by(result, a, b, remainder, true);
    else
        divide_by(result, a, b, remainder, false);
}

#define DEFINE_DIVISION(name, type, is_signed, remainder)                                          \
    static void name##_##type##_lanes(struct warp *w, const struct insn *i, uint32_t mask)         \
    {                                                                                              \
        lane_64 *d = LANES(u64, i->d), x[WARP], y[WARP];                                           \
        const lane_64 *a = LANES(u64, i->a), *b = LANES(u64, i->b);                                \
        uint64_t result[WARP];                                                                     \
        if (are_small(a, b)) {                                                                     \
            divide_small(result, a, b, remainder);                                                 \
            FOR_LANES(d, result[l]);                                                               \
            return;                                                                                \
        }                                                                                          \
        if (is_signed) {                                                                           \
            EVERY_LANE x[l] = with_sign(a[l], sign_of(a[l]));                                      \
            EVERY_LANE y[l] = with_sign(b[l], sign_of(b[l]));                                      \
        }                                                                                          \
        if (is_signed && are_small(x, y)) {                                                        \
            divide_small(result, x, y, remainder);                                                 \
            FOR_LANES(d, with_sign(result[l], sign_of(remainder ? a[l] : a[l] ^ b[l])));           \
            return;                                                                                \
        }                                                                                          \
        FOR_LANES(d, name##_##type(a[l], b[l]));                                                   \
    }
DEFINE_DIVISION(divide, u64, false, false)
DEFINE_DIVISION(divide, s64, true, false)
DEFINE_DIVISION(remainder, u64, false, true)
DEFINE_DIVISION(remainder, s64, true, true)

static const struct op divide_entries[] = {{"div.u64", divide_u64_lanes, "888"},
                                           {"div.s64", divide_s64_lanes, "888"},
                                           {"rem.u64", remainder_u64_lanes, "888"},
                                           {"rem.s64", remainder_s64_lanes, "888"}};
DEFINE_OP_TABLE(ops_divide, divide_entries);

/* ---- the SIMD video instructions ------------------------------------------------------------- */

/* The SIMD video instructions (PTX ISA, "Video Instructions"): absolute differences without
 * selectors, which nvcc writes for __vabsdiffu4 and __vsadu4. All others are refused by name. */

/* A part of a word, which has `bits` bits. */
static inline int32_t part_of(uint32_t word, int at, int bits, bool is_signed)
{
    uint32_t moved = word << (32 - bits - at);
    return is_signed ? (int32_t)moved >> (32 - bits) : (int32_t)(moved >> (32 - bits));
}

/* Absolute differences of bytes or halves. Each is stored in its place, but at most `most`; all are
 * also added to *sum. */
static inline uint32_t differ(uint32_t a, uint32_t b, int bits, bool a_signed, bool b_signed,
                              uint32_t most, uint32_t *sum)
{
    uint32_t result = 0, ones = (UINT32_C(1) << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        int32_t x = part_of(a, at, bits, a_signed), y = part_of(b, at, bits, b_signed);
        uint32_t difference = (uint32_t)(x < y ? y - x : x - y);
        result |= ((difference > most ? most : difference) & ones) << at;
        *sum += difference;
    }
    return result;
}
static inline uint32_t differ_each(uint32_t a, uint32_t b, int bits, bool a_signed, bool b_signed,
                                   uint32_t most)
{
    uint32_t sum = 0;
    return differ(a, b, bits, a_signed, b_signed, most, &sum);
}
static inline uint32_t differ_sum(uint32_t a, uint32_t b, uint32_t c, int bits, bool a_signed,
                                  bool b_signed)
{
    differ(a, b, bits, a_signed, b_signed, UINT32_MAX, &c);
    return c;
}

/* vabsdiff4.u32.u32.u32 d, a, b, c; c would fill the bytes that the result leaves out, but the
 * result always covers all bytes. */
#define SIGNS(X, n) X(n, u, u) X(n, u, s) X(n, s, u) X(n, s, s)
#define DIFFERENCES(X) SIGNS(X, 2) SIGNS(X, 4)
#define IS_u false
#define IS_s true
#define DEFINE_EACH(name, n, ta, tb, most)                                                         \
    static void name##_##n##ta##tb(struct warp *w, const struct insn *i, uint32_t mask)            \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, differ_each(a[l], b[l], 32 / n, IS_##ta, IS_##tb, most));                     \
    }
#define DEFINE_DIFFERENCE(n, ta, tb)                                                               \
    DEFINE_EACH(each, n, ta, tb, UINT32_MAX)                                                       \
    DEFINE_EACH(unsigned, n, ta, tb, UINT32_MAX >> (32 - 32 / n))                                  \
    DEFINE_EACH(signed, n, ta, tb, UINT32_MAX >> (33 - 32 / n))                                    \
    static void sum_##n##ta##tb(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b), *c = LANES(u32, i->c);         \
        FOR_LANES(d, differ_sum(a[l], b[l], c[l], 32 / n, IS_##ta, IS_##tb));                      \
    }
/* A key has the type of b first, then those of d and a. */
#define ENTRY_DIFFERENCE(n, ta, tb)                                                                \
    {"vabsdiff" #n "." #tb "32.u32." #ta "32", each_##n##ta##tb, "4444"},                          \
    {"vabsdiff" #n "." #tb "32.s32." #ta "32", each_##n##ta##tb, "4444"},                          \
    {"vabsdiff" #n "." #tb "32.sat.u32." #ta "32", unsigned_##n##ta##tb, "4444"},                  \
    {"vabsdiff" #n "." #tb "32.sat.s32." #ta "32", signed_##n##ta##tb, "4444"},                    \
    {"vabsdiff" #n "." #tb "32.add.u32." #ta "32", sum_##n##ta##tb, "4444"},                       \
    {"vabsdiff" #n "." #tb "32.add.s32." #ta "32", sum_##n##ta##tb, "4444"},
DIFFERENCES(DEFINE_DIFFERENCE)

static const struct op video_entries[] = {DIFFERENCES(ENTRY_DIFFERENCE)};
DEFINE_OP_TABLE(ops_video, video_entries);

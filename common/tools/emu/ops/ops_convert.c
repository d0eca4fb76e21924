/* ops_convert.c — conversions. */
#include "ops.h"
#include <math.h>

/* ---- cvt (PTX ISA, "cvt") -------------------------------------------------------------------- */

/* Integers are truncated or extended, and clamped with .sat. An integer becomes a float by the
 * given rounding. A float becomes an integer by rounding to an integral value (.rni .rzi .rmi .rpi)
 * and clamping to the range. A float is rounded when the result is narrower. Keys are
 * "cvt.<to>.<from>", with "sat" or the rounding behind "cvt" where it matters. */

/* A result of 8 or 16 bits is extended to its register, a signed one by its sign. */
#define WIDEN(to, value) ((L_##to)(T_##to)(value))

#define DEFINE_CONVERT(to, from, id, value)                                                        \
    static inline T_##to id##_##to##_##from##_lane(T_##from a) { return (T_##to)(value); }         \
    static void id##_##to##_##from(struct warp *w, const struct insn *i, uint32_t mask)            \
    {                                                                                              \
        L_##to *d = LANES(to, i->d);                                                               \
        const L_##from *a = LANES(from, i->a);                                                     \
        FOR_LANES(d, WIDEN(to, id##_##to##_##from##_lane((T_##from)a[l])));                        \
    }

/* ---- integer to integer: 8 × 8 types, plain and saturating */

#define MIN_u8 0
#define MAX_u8 UINT8_MAX
#define MIN_u16 0
#define MAX_u16 UINT16_MAX
#define MIN_u32 0
#define MAX_u32 UINT32_MAX
#define MIN_u64 0
#define MAX_u64 UINT64_MAX
#define MIN_s8 INT8_MIN
#define MAX_s8 INT8_MAX
#define MIN_s16 INT16_MIN
#define MAX_s16 INT16_MAX
#define MIN_s32 INT32_MIN
#define MAX_s32 INT32_MAX
#define MIN_s64 INT64_MIN
#define MAX_s64 INT64_MAX

static inline __int128 clamp(__int128 a, __int128 low, __int128 high)
{
    return a < low ? low : a > high ? high : a;
}
#define CLAMP(to, a) clamp(a, MIN_##to, MAX_##to)
#define FROM_INTEGERS(X, to)                                                                       \
    X(to, u8) X(to, s8) X(to, u16) X(to, s16) X(to, u32) X(to, s32) X(to, u64) X(to, s64)
#define INTEGERS(X)                                                                                \
    FROM_INTEGERS(X, u8) FROM_INTEGERS(X, s8) FROM_INTEGERS(X, u16) FROM_INTEGERS(X, s16)          \
    FROM_INTEGERS(X, u32) FROM_INTEGERS(X, s32) FROM_INTEGERS(X, u64) FROM_INTEGERS(X, s64)
#define DEFINE_INTEGER(to, from)                                                                   \
    DEFINE_CONVERT(to, from, cvt, a) DEFINE_CONVERT(to, from, clamp, CLAMP(to, a))
#define ENTRY_INTEGER(to, from)                                                                    \
    {"cvt." #to "." #from, cvt_##to##_##from, W_##to W_##from},                                    \
    {"cvt.sat." #to "." #from, clamp_##to##_##from, W_##to W_##from},
INTEGERS(DEFINE_INTEGER)

/* ---- integer to float: the CPU's conversion follows the rounding mode that the wrapper sets */

#define TO_FLOATS(X) FROM_INTEGERS(X, f32) FROM_INTEGERS(X, f64)
#define DEFINE_TO_FLOAT(to, from) DEFINE_CONVERT(to, from, cvt, a)
#define ENTRY_TO_FLOAT(to, from) {"cvt." #to "." #from, cvt_##to##_##from, W_##to W_##from},
TO_FLOATS(DEFINE_TO_FLOAT)

/* ---- float to integer */

/* A NaN becomes 0. With a double or a 64-bit integer, it becomes a number with only the top bit
 * set. */
#define OF_NAN(to, from)                                                                           \
    (sizeof(T_##from) == 8 || sizeof(T_##to) == 8                                                  \
         ? (T_##to)((U_##to)1 << (8 * sizeof(T_##to) - 1))                                         \
         : 0)
/* The limits as floats. The maximum is rounded up if the float cannot hold it: 2^31 for s32. Only
 * numbers between the limits are converted. */
#define DEFINE_INTEGER_OF(to, from)                                                                \
    static inline T_##to to##_of_##from(T_##from a)                                                \
    {                                                                                              \
        const T_##from low = (T_##from)MIN_##to, high = (T_##from)MAX_##to;                        \
        bool is_inside = (a > low) & (a < high);                                                   \
        T_##to inside = (T_##to)(is_inside ? a : 0);                                               \
        T_##to limit = a != a ? OF_NAN(to, from) : a >= high ? MAX_##to : MIN_##to;                \
        return is_inside ? inside : limit;                                                         \
    }
/* rint follows the rounding mode, which is "to nearest even" here. */
#define TO_INTEGERS(X, from)                                                                       \
    X(u8, from) X(s8, from) X(u16, from) X(s16, from)                                              \
    X(u32, from) X(s32, from) X(u64, from) X(s64, from)
#define RINT_f32  rintf
#define TRUNC_f32 truncf
#define FLOOR_f32 floorf
#define CEIL_f32  ceilf
#define RINT_f64  rint
#define TRUNC_f64 trunc
#define FLOOR_f64 floor
#define CEIL_f64  ceil
#define DEFINE_TO_INTEGER(to, from)                                                                \
    DEFINE_INTEGER_OF(to, from)                                                                    \
    DEFINE_CONVERT(to, from, rni, to##_of_##from(RINT_##from(a)))                                  \
    DEFINE_CONVERT(to, from, rzi, to##_of_##from(TRUNC_##from(a)))                                 \
    DEFINE_CONVERT(to, from, rmi, to##_of_##from(FLOOR_##from(a)))                                 \
    DEFINE_CONVERT(to, from, rpi, to##_of_##from(CEIL_##from(a)))
#define ENTRY_ROUNDED(id, to, from)                                                                \
    {"cvt." #id "." #to "." #from, id##_##to##_##from, W_##to W_##from},
#define ENTRY_TO_INTEGER(to, from)                                                                 \
    ENTRY_ROUNDED(rni, to, from) ENTRY_ROUNDED(rzi, to, from) ENTRY_ROUNDED(rmi, to, from)         \
    ENTRY_ROUNDED(rpi, to, from)
TO_INTEGERS(DEFINE_TO_INTEGER, f32)
TO_INTEGERS(DEFINE_TO_INTEGER, f64)

/* ---- float to float */

DEFINE_CONVERT(f32, f64, cvt, (float)a) /* a NaN keeps its sign and its upper bits */
DEFINE_CONVERT(f64, f32, cvt, a)
DEFINE_CONVERT(f32, f32, cvt, canonical(a))
DEFINE_CONVERT(f64, f64, cvt, a)
#define ROUND_TO_INTEGRAL(X)                                                                       \
    X(rni, f32, f32, canonical(rintf(a))) X(rzi, f32, f32, canonical(truncf(a)))                   \
    X(rmi, f32, f32, canonical(floorf(a))) X(rpi, f32, f32, canonical(ceilf(a)))                   \
    X(rni, f64, f64, rint(a)) X(rzi, f64, f64, trunc(a)) X(rmi, f64, f64, floor(a))                \
    X(rpi, f64, f64, ceil(a))
#define DEFINE_INTEGRAL(id, to, from, value) DEFINE_CONVERT(to, from, id, value)
#define ENTRY_INTEGRAL(id, to, from, value) ENTRY_ROUNDED(id, to, from)
ROUND_TO_INTEGRAL(DEFINE_INTEGRAL)

/* ---- 16-bit floats: always through a double, which holds them all */

#define T_f16 uint16_t
#define L_f16 lane_32
#define W_f16 "4"
#define T_bf16 uint16_t
#define L_bf16 lane_32
#define W_bf16 "4"

#define HALVES(X)                                                                                  \
    X(f32, f16, canonical(f32_of_f16(a))) X(f64, f16, f32_of_f16(a))                               \
    X(f32, bf16, f32_of_bf16(a))                                                                   \
    X(f64, bf16, f32_of_bf16(a)) X(f16, f16, a) X(bf16, bf16, a)
#define DEFINE_FROM_HALF(to, from, value) DEFINE_CONVERT(to, from, cvt, value)
#define ENTRY_FROM_HALF(to, from, value) ENTRY_TO_FLOAT(to, from)
HALVES(DEFINE_FROM_HALF)

/* A NaN of a double keeps its sign and its upper bits. */
static inline uint16_t upper_bits(double nan, int infinity, int fraction_bits)
{
    uint64_t bits = bits_of_f64(nan) | QUIET_F64;
    return (uint16_t)(bits >> 63 << 15 | (uint64_t)infinity |
                      (bits & 0xfffffffffffff) >> (52 - fraction_bits));
}
static inline uint16_t f16_of_any(double a, enum round_to how)
{
    return a == a ? f16_of_f64(a, how) : upper_bits(a, 0x7c00, 10);
}
static inline uint16_t bf16_of_any(double a, enum round_to how)
{
    return a == a ? bf16_of_f64(a, how) : upper_bits(a, 0x7f80, 7);
}

/* To 16 bits, with the four roundings. Without a rounding, rn is meant. */
#define TO_HALF_OF(X, to, from, wide, of)                                                          \
    X(rn, to, from, to##_##of(wide, ROUND_NEAREST)) X(rz, to, from, to##_##of(wide, ROUND_ZERO))   \
    X(rm, to, from, to##_##of(wide, ROUND_DOWN)) X(rp, to, from, to##_##of(wide, ROUND_UP))
#define TO_HALF(X, to, from, wide) TO_HALF_OF(X, to, from, wide, of_f64)
/* Integers of more than 53 bits are first rounded to odd, so the second rounding gives the right
 * result. */
static inline double odd_of_u64(uint64_t a)
{
    return (double)(a >> 53 ? (a & ~UINT64_C(0xfff)) | ((a & 0xfff) != 0) << 12 : a);
}
static inline double odd_of_s64(int64_t a)
{
    return a < 0 ? -odd_of_u64(0 - (uint64_t)a) : odd_of_u64((uint64_t)a);
}
#define TO_HALVES(X)                                                                               \
    TO_HALF(X, f16, f32, a) TO_HALF(X, bf16, f32, a)                                               \
    TO_HALF_OF(X, f16, f64, a, of_any) TO_HALF_OF(X, bf16, f64, a, of_any)                         \
    TO_HALF(X, f16, u8, a) TO_HALF(X, f16, s8, a) TO_HALF(X, f16, u16, a) TO_HALF(X, f16, s16, a)  \
    TO_HALF(X, f16, u32, a) TO_HALF(X, f16, s32, a) TO_HALF(X, f16, u64, odd_of_u64(a))            \
    TO_HALF(X, f16, s64, odd_of_s64(a))                                                            \
    TO_HALF(X, bf16, u32, a) TO_HALF(X, bf16, s32, a) TO_HALF(X, bf16, u16, a)                     \
    TO_HALF(X, bf16, u8, a) TO_HALF(X, bf16, s8, a) TO_HALF(X, bf16, u64, odd_of_u64(a))           \
    TO_HALF(X, bf16, s64, odd_of_s64(a)) TO_HALF(X, bf16, s16, a)                                  \
    TO_HALF(X, bf16, f16, f32_of_f16(a)) TO_HALF(X, f16, bf16, f32_of_bf16(a))
TO_HALVES(DEFINE_INTEGRAL)

/* From 16 bits to integers and to integral values. */
#define HALF_TO_INTEGERS(X, from)                                                                  \
    X(u8, from) X(s8, from) X(u16, from) X(s16, from)                                              \
    X(u32, from) X(s32, from) X(u64, from) X(s64, from)
#define DEFINE_HALF_TO_INTEGER(to, from)                                                           \
    DEFINE_CONVERT(to, from, rni, to##_of_f32(rintf(f32_of_##from(a))))                            \
    DEFINE_CONVERT(to, from, rzi, to##_of_f32(truncf(f32_of_##from(a))))                           \
    DEFINE_CONVERT(to, from, rmi, to##_of_f32(floorf(f32_of_##from(a))))                           \
    DEFINE_CONVERT(to, from, rpi, to##_of_f32(ceilf(f32_of_##from(a))))
HALF_TO_INTEGERS(DEFINE_HALF_TO_INTEGER, f16)
HALF_TO_INTEGERS(DEFINE_HALF_TO_INTEGER, bf16)
#define HALF_INTEGRAL(X)                                                                           \
    X(rni, f16, f16, f16_of_f64(rint((double)f32_of_f16(a)), ROUND_NEAREST))                       \
    X(rzi, f16, f16, f16_of_f64(trunc((double)f32_of_f16(a)), ROUND_NEAREST))                      \
    X(rmi, f16, f16, f16_of_f64(floor((double)f32_of_f16(a)), ROUND_NEAREST))                      \
    X(rpi, f16, f16, f16_of_f64(ceil((double)f32_of_f16(a)), ROUND_NEAREST))                       \
    X(rni, bf16, bf16, bf16_of_f64(rint((double)f32_of_bf16(a)), ROUND_NEAREST))                   \
    X(rzi, bf16, bf16, bf16_of_f64(trunc((double)f32_of_bf16(a)), ROUND_NEAREST))                  \
    X(rmi, bf16, bf16, bf16_of_f64(floor((double)f32_of_bf16(a)), ROUND_NEAREST))                  \
    X(rpi, bf16, bf16, bf16_of_f64(ceil((double)f32_of_bf16(a)), ROUND_NEAREST))
HALF_INTEGRAL(DEFINE_INTEGRAL)

/* Two floats become the two halves of a register: cvt.rn.f16x2.f32 d, high, low */
#define PAIRS(X)                                                                                   \
    X(f16, rn, ROUND_NEAREST) X(f16, rz, ROUND_ZERO)                                               \
    X(bf16, rn, ROUND_NEAREST) X(bf16, rz, ROUND_ZERO)
#define DEFINE_PAIR(to, id, how)                                                                   \
    static void pair_##to##_##id(struct warp *w, const struct insn *i, uint32_t mask)              \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_float *a = LANES(f32, i->a), *b = LANES(f32, i->b);                             \
        FOR_LANES(d, (uint32_t)to##_of_f64(a[l], how) << 16 | to##_of_f64(b[l], how));             \
    }
#define ENTRY_PAIR(to, id, how) {"cvt." #id "." #to "x2.f32", pair_##to##_##id, "444"},
PAIRS(DEFINE_PAIR)

static const struct op entries[] = {
    INTEGERS(ENTRY_INTEGER)
    TO_FLOATS(ENTRY_TO_FLOAT)
    TO_INTEGERS(ENTRY_TO_INTEGER, f32) TO_INTEGERS(ENTRY_TO_INTEGER, f64)
    {"cvt.f32.f64", cvt_f32_f64, "48"}, {"cvt.f64.f32", cvt_f64_f32, "84"},
    {"cvt.f32.f32", cvt_f32_f32, "44"}, {"cvt.f64.f64", cvt_f64_f64, "88"},
    ROUND_TO_INTEGRAL(ENTRY_INTEGRAL)
    HALVES(ENTRY_FROM_HALF) TO_HALVES(ENTRY_INTEGRAL)
    HALF_TO_INTEGERS(ENTRY_TO_INTEGER, f16) HALF_TO_INTEGERS(ENTRY_TO_INTEGER, bf16)
    HALF_INTEGRAL(ENTRY_INTEGRAL) PAIRS(ENTRY_PAIR)
};
DEFINE_OP_TABLE(ops_convert, entries);

/* ---- formats of neural networks -------------------------------------------------------------- */

/* Cvt to and from the formats of neural networks: tf32, and pairs of 8-bit floats (PTX ISA, "cvt";
 * e4m3 has no infinity and one NaN, e5m2 is a half without its low byte). */

/* ---- tf32: a float with 10 bits of fraction */

/* rna cuts the bits of a NaN, too, which may leave an infinity. */
static inline uint32_t tf32(uint32_t bits, uint32_t add, bool cuts, bool positive)
{
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000, is_finite = (bits & 0x7f800000) != 0x7f800000;
    if (is_nan && !cuts) return 0x7fffe000;
    return positive && bits >> 31 ? 0 : (bits + (is_finite ? add : 0)) & 0xffffe000;
}
#define TF32(X)                                                                                    \
    X(rna, 0x1000, true) /* ties are rounded away from zero */                                     \
    X(rn, 0xfff + (a[l] >> 13 & 1), false) X(rz, 0, false)
#define DEFINE_TF32(how, add, cuts)                                                                \
    static void tf32_##how(struct warp *w, const struct insn *i, uint32_t mask)                    \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, tf32(a[l], add, cuts, i->rules.clamp == CLAMP_TO_POSITIVE));                  \
    }
#define ENTRY_TF32(how, add, cuts) {"cvt." #how ".tf32.f32", tf32_##how, "44"},
TF32(DEFINE_TF32)

/* ---- 8 bits: a value beyond the range becomes the largest number (.satfinite) */

static inline uint32_t float8_of(double value, bool positive, int fraction_bits, int emin, int emax,
                                 uint32_t largest)
{
    if (isnan(value)) return 0x7f;
    if (positive && value <= 0) return 0;
    uint32_t bits = round_to_16(value, fraction_bits, emin, emax, ROUND_NEAREST);
    uint32_t magnitude = bits & 0x7fff;
    return (bits >> 8 & 0x80) | (magnitude > largest ? largest : magnitude);
}
static inline uint32_t e4m3_of(double value, bool positive)
{
    return float8_of(value, positive, 3, -6, 9, 0x7e);
}
static inline uint32_t e5m2_of(double value, bool positive)
{
    return float8_of(value, positive, 2, -14, 15, 0x7b);
}
static inline uint16_t f16_of_e4m3(uint32_t bits)
{
    uint32_t sign = (bits & 0x80) << 8, exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f) return 0x7fff;
    if (exponent) return (uint16_t)(sign | (exponent + 8) << 10 | fraction << 7);
    return (uint16_t)(sign | f16_of_f64(fraction * 0x1p-9, ROUND_NEAREST));
}
static inline uint16_t f16_of_e5m2(uint32_t bits)
{
    return (bits & 0x7f) > 0x7c ? 0x7fff : (uint16_t)((bits & 0xff) << 8);
}
static inline uint32_t not_below_zero(uint32_t half, bool positive)
{
    return positive && half & 0x8000 && half <= 0xfc00 ? 0 : half;
}

#define SMALL(X) X(e4m3) X(e5m2)
#define DEFINE_SMALL(type)                                                                         \
    static void type##_of_floats(struct warp *w, const struct insn *i, uint32_t mask)              \
    {                                                                                              \
        bool positive = i->rules.clamp == CLAMP_TO_POSITIVE;                                       \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_float *a = LANES(f32, i->a), *b = LANES(f32, i->b);                             \
        FOR_LANES(d, type##_of(a[l], positive) << 8 | type##_of(b[l], positive));                  \
    }                                                                                              \
    static void type##_of_halves(struct warp *w, const struct insn *i, uint32_t mask)              \
    {                                                                                              \
        bool positive = i->rules.clamp == CLAMP_TO_POSITIVE;                                       \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, type##_of(f32_of_f16((uint16_t)(a[l] >> 16)), positive) << 8 |                \
                         type##_of(f32_of_f16((uint16_t)a[l]), positive));                         \
    }                                                                                              \
    static void halves_of_##type(struct warp *w, const struct insn *i, uint32_t mask)              \
    {                                                                                              \
        bool positive = i->rules.clamp == CLAMP_TO_POSITIVE;                                       \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, not_below_zero(f16_of_##type(a[l] >> 8 & 0xff), positive) << 16 |             \
                         not_below_zero(f16_of_##type(a[l] & 0xff), positive));                    \
    }
#define ENTRY_SMALL(type)                                                                          \
    {"cvt.rn." #type "x2.f32", type##_of_floats, "444"},                                           \
    {"cvt.rn." #type "x2.f16x2", type##_of_halves, "44"},                                          \
    {"cvt.rn.f16x2." #type "x2", halves_of_##type, "44"},
SMALL(DEFINE_SMALL)

/* ---- cvt.pack: two integers, which saturate, and below 16 bits the low bits of c above them */

static inline uint32_t saturated(uint32_t value, int bits, bool is_signed)
{
    int32_t a = (int32_t)value, most = (1 << (bits - is_signed)) - 1;
    int32_t least = is_signed ? -most - 1 : 0;
    return (uint32_t)(a < least ? least : a > most ? most : a) & ((UINT32_C(1) << bits) - 1);
}
#define PACK(X)                                                                                    \
    X(u, 16, false, "u16.s32", "444") X(s, 16, true, "s16.s32", "444")                             \
    X(u, 8, false, "b32.u8.s32", "4444") X(s, 8, true, "b32.s8.s32", "4444")                       \
    X(u, 4, false, "u4.s32.b32", "4444") X(s, 4, true, "s4.s32.b32", "4444")                       \
    X(u, 2, false, "u2.s32.b32", "4444") X(s, 2, true, "s2.s32.b32", "4444")
#define DEFINE_PACK(sign, bits, is_signed, ...)                                                    \
    static void pack_##sign##bits(struct warp *w, const struct insn *i, uint32_t mask)             \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        const lane_32 *c = i->c == NO_SLOT ? a : LANES(u32, i->c);                                 \
        FOR_LANES(d, (uint32_t)((uint64_t)c[l] << 2 * bits) |                                      \
                         saturated(a[l], bits, is_signed) << bits |                                \
                         saturated(b[l], bits, is_signed));                                        \
    }
#define ENTRY_PACK(sign, bits, is_signed, types, operands)                                         \
    {"cvt.pack.sat." types, pack_##sign##bits, operands},
PACK(DEFINE_PACK)

static const struct op small_entries[] = {TF32(ENTRY_TF32) SMALL(ENTRY_SMALL) PACK(ENTRY_PACK)};
DEFINE_OP_TABLE(ops_convert_small, small_entries);

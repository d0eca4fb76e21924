/*
 * ops_convert_small.c — cvt to and from the formats of neural networks: tf32, and pairs of 8-bit
 * floats (PTX ISA, "cvt"; e4m3 has no infinity and one NaN, e5m2 is a half without its low byte).
 */
#include "common/emu/ptx/half.h"
#include "ops.h"
#include <math.h>

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

/*
 * ops_half.h — operations on 16-bit floats, for the ops_*.c files: each is defined twice, for one
 * value a lane, and for two packed values (x2). They are computed in float or double with enough
 * bits, so that they are as if rounded once.
 */
#ifndef EMU_OPS_HALF_H
#define EMU_OPS_HALF_H

#include "common/emu/ptx/half.h"
#include "ops.h"
#if defined __F16C__
#include <immintrin.h>
#endif

static inline float canonical(float value)
{
    return value == value ? value : f32_of_bits(0x7fffffff);
}
static inline double nan_or(double a, double otherwise)
{
    return a == a ? otherwise : f64_of_bits(bits_of_f64(a) | QUIET_F64);
}
static inline uint16_t f16(double value) { return f16_of_f64(value, ROUND_NEAREST); }
static inline uint16_t bf16(double value) { return bf16_of_f64(value, ROUND_NEAREST); }

/* From id_type_one(), which has the low 16 bits of each operand, and whether to flush. */
#define DEFINE_HALVES_1(id, type)                                                                  \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush));                                     \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush) |                                     \
                         id##_##type##_one(a[l] >> 16, i->rules.flush) << 16);                     \
    }
#define ENTRY_HALVES_1(id, type)                                                                   \
    {#id "." #type, id##_##type, "44"}, {#id "." #type "x2", id##_##type##x2, "44"},

/* ---- many values at once --------------------------------------------------------------------- */

/* As floats, which hold more than twice the digits of a half, so that the second rounding changes
 * no sum, difference or product. */

enum { HALVES = 2 * WARP };
typedef uint16_t half_16 __attribute__((may_alias));

#define EACH_HALF(statement) INDEPENDENT for (int k = 0; k < count; k++) statement

#if defined __F16C__
enum { AT_ONCE = 8 };
INLINE void from_f16(float *to, const half_16 *from, int count)
{
    for (int k = 0; k < count; k += AT_ONCE)
        _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + k))));
}
INLINE void to_f16(half_16 *to, const float *from, int count)
{
    for (int k = 0; k < count; k += AT_ONCE)
        _mm_storeu_si128((__m128i *)(to + k),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT));
    EACH_HALF(to[k] = (to[k] & 0x7fff) > 0x7c00 ? 0x7fff : to[k]);
}
#else
INLINE void from_f16(float *to, const half_16 *from, int count)
{
    EACH_HALF(to[k] = f32_of_f16(from[k]));
}
INLINE void to_f16(half_16 *to, const float *from, int count)
{
    EACH_HALF(to[k] = f16_of_f32(from[k]));
}
#endif
INLINE void from_bf16(float *to, const half_16 *from, int count)
{
    EACH_HALF(to[k] = f32_of_bf16(from[k]));
}
INLINE void to_bf16(half_16 *to, const float *from, int count)
{
    EACH_HALF(to[k] = bf16_of_f32(from[k]));
}

#define DEFINE_WIDTHS(type)                                                                        \
    INLINE void widen_##type(float *to, const half_16 *from, int count, bool flush)                \
    {                                                                                              \
        half_16 flushed[HALVES];                                                                   \
        if (flush) EACH_HALF(flushed[k] = flush_##type(from[k], true));                            \
        from_##type(to, flush ? flushed : from, count);                                            \
    }                                                                                              \
    INLINE void narrow_##type(half_16 *to, const float *from, int count, bool flush)               \
    {                                                                                              \
        to_##type(to, from, count);                                                                \
        if (flush) EACH_HALF(to[k] = flush_##type(to[k], true));                                   \
    }
DEFINE_WIDTHS(f16)
DEFINE_WIDTHS(bf16)

/* The low halves of the lanes. */
INLINE const half_16 *low_halves(half_16 *to, const lane_32 *from)
{
    INDEPENDENT for (int l = 0; l < WARP; l++) to[l] = (uint16_t)from[l];
    return to;
}

/* From id_type_many(), which has `count` values of each operand. */
#define DEFINE_MANY_HALVES(id, type)                                                               \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        half_16 r[WARP], p[WARP], q[WARP], s[WARP];                                                \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const half_16 *a = low_halves(p, LANES(u32, i->a)), *b = low_halves(q, LANES(u32, i->b));  \
        const half_16 *c = i->c == NO_SLOT ? b : low_halves(s, LANES(u32, i->c));                  \
        id##_##type##_many(r, a, b, c, WARP, i->rules.flush);                                      \
        FOR_LANES(d, (uint32_t)r[l]);                                                              \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 r[WARP], *d = LANES(u32, i->d);                                                    \
        const half_16 *a = (half_16 *)LANES(u32, i->a), *b = (half_16 *)LANES(u32, i->b);          \
        const half_16 *c = i->c == NO_SLOT ? b : (half_16 *)LANES(u32, i->c);                      \
        id##_##type##_many((half_16 *)r, a, b, c, HALVES, i->rules.flush);                         \
        FOR_LANES(d, r[l]);                                                                        \
    }

/* An operation by its value for the floats a and b. */
#define DEFINE_HALF_BINARY(id, key, type, value)                                                   \
    INLINE float id##_##type##_value(float a, float b) { return value; }                           \
    INLINE void id##_##type##_many(half_16 *d, const half_16 *a, const half_16 *b,                 \
                                   const half_16 *c, int count, bool flush)                        \
    {                                                                                              \
        float x[HALVES], y[HALVES];                                                                \
        (void)c;                                                                                   \
        widen_##type(x, a, count, flush);                                                          \
        widen_##type(y, b, count, flush);                                                          \
        EACH_HALF(x[k] = id##_##type##_value(x[k], y[k]));                                         \
        narrow_##type(d, x, count, flush);                                                         \
    }                                                                                              \
    DEFINE_MANY_HALVES(id, type)
#define ENTRY_HALF_BINARY(id, key, type, value)                                                    \
    {key "." #type, id##_##type, "444"}, {key "." #type "x2", id##_##type##x2, "444"},

#endif

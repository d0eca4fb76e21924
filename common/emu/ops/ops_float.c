/*
 * ops_float.c — floating-point arithmetic (PTX ISA, "Floating-Point Instructions").
 *
 * add, sub, mul, fma, div, sqrt and rcp follow IEEE 754, as the CPU does. The wrapper in
 * operations.c handles rounding modes, .ftz and .sat. What hardware approximates (.approx, see also
 * ops_approx.c) is more exact here than PTX demands, so the bits may differ from a GPU's. A NaN
 * result of an f32 operation is the canonical 0x7fffffff. An f64 operation passes a NaN's payload
 * on; of several NaNs it is that of b, then of c, then of a. (ptxas exchanges the factors or terms
 * if one is in a uniform register, such as a kernel's parameter: then a GPU passes on a's.)
 */
#include "ops_half.h"
#include <math.h>

/* min and max: if one operand is NaN, the result is the other one, or NaN with .NaN. -0 is below
 * +0. Compared both ways, p and q differ only if both operands are zeros, or one is NaN; then p is
 * b and q is a. Masks of bits, and no choices, since vector instructions combine masks faster. */
#define IS_NAN(bits, a)               (0 - (bits)((a) != (a))) /* all ones, or 0 */
#define LESSER_f32(p, q, a_is, b_is)  ((p & ~b_is) | (q & ~a_is) | (a_is & b_is) >> 1)
#define LESSER_f64(p, q, a_is, b_is)                                                               \
    ((p & (~b_is | a_is)) | (q & ~a_is) | (a_is & b_is & QUIET_F64))
#define GREATER_f32(p, q, a_is, b_is) ((p | b_is) & (q | a_is) & ~((a_is & b_is) << 31))
#define GREATER_f64(p, q, a_is, b_is)                                                              \
    (((p | (b_is & ~a_is)) & (q | a_is)) | (a_is & b_is & QUIET_F64))
#define DEFINE_EXTREMES(type, bits, bits_of, of_bits)                                              \
    static inline T_##type lesser_##type(T_##type a, T_##type b)                                   \
    {                                                                                              \
        bits p = bits_of(a < b ? a : b), q = bits_of(b < a ? b : a);                               \
        return of_bits(LESSER_##type(p, q, IS_NAN(bits, a), IS_NAN(bits, b)));                     \
    }                                                                                              \
    static inline T_##type greater_##type(T_##type a, T_##type b)                                  \
    {                                                                                              \
        bits p = bits_of(a > b ? a : b), q = bits_of(b > a ? b : a);                               \
        return of_bits(GREATER_##type(p, q, IS_NAN(bits, a), IS_NAN(bits, b)));                    \
    }
DEFINE_EXTREMES(f32, uint32_t, bits_of_f32, f32_of_bits)
DEFINE_EXTREMES(f64, uint64_t, bits_of_f64, f64_of_bits)

static inline double clear_sign(double a) { return __builtin_fabs(a); }

/* Approximations of which, as of the operand, only the upper word counts (MUFU.RCP64H and RSQ64H).
 * The hardware interpolates, and cuts. So does the exact result plus 1/16 of the last place that is
 * left: 98 and 97 of 100 results are the hardware's, and the others its neighbours. */
#define UPPER_WORD(a) f64_of_bits(bits_of_f64(a) & UINT64_C(0xffffffff00000000))
#define FLUSHED(a)    (clear_sign(a) < 0x1p-1022 ? __builtin_copysign(0, a) : (a))
static inline double start(double a)
{
    double raised = f64_of_bits(bits_of_f64(a) + (UINT64_C(1) << 28));
    return a == a ? UPPER_WORD(raised) : f64_of_bits(UINT64_C(0x7fffffff00000000));
}
static inline double rcp_start(double a)
{
    double exact = 1 / FLUSHED(UPPER_WORD(a));
    return start(FLUSHED(exact));
}
static inline double rsqrt_start(double a)
{
    return start(1 / __builtin_sqrt(FLUSHED(UPPER_WORD(a))));
}

/* rsqrt.approx.f64, as ptxas makes it of RSQ64H; denormals are scaled. */
static inline double rsqrt_of(double a)
{
    bool is_small = a < 0x1p-1022;
    double x = is_small ? a * 0x1p54 : a, y = rsqrt_start(x), e = __builtin_fma(-(y * y), x, 1);
    double result = __builtin_fma(__builtin_fma(e, 0.375, 0.5), y * e, y);
    if (a < 0) return f64_of_bits(UINT64_C(0xfff8) << 48);
    if (a == 0 || a == INFINITY) return rsqrt_start(a);
    return nan_or(a, is_small ? result * 0x1p27 : result);
}

/* __fdividef(a, b): b has a reciprocal that is denormal, which is flushed. */
static inline float divide_approx(float a, float b)
{
    return canonical(__builtin_fabsf(b) > 0x1p126f ? a * __builtin_copysignf(0, b) : a / b);
}

/* clang-format off */
#define UNARY(X)                                                                                   \
    X(abs, "abs", f32, canonical(__builtin_fabsf(a)))                                              \
    X(abs, "abs", f64, nan_or(a, clear_sign(a)))                                                   \
    X(neg, "neg", f32, canonical(-a)) X(neg, "neg", f64, nan_or(a, -a))                            \
    X(sqrt, "sqrt", f32, canonical(__builtin_sqrtf(a))) X(sqrt, "sqrt", f64, __builtin_sqrt(a))    \
    X(rcp, "rcp", f32, canonical(1.0f / a)) X(rcp, "rcp", f64, 1.0 / a)                            \
    X(rsqrt, "rsqrt", f64, rsqrt_of(a)) X(rsqrt_ftz, "rsqrt.ftz", f64, rsqrt_start(a))             \
    X(rcp_ftz, "rcp.ftz", f64, rcp_start(a))

#define BINARY(X)                                                                                  \
    X(add,      "add",      f32, canonical(a + b))                                                 \
    X(add,      "add",      f64, nan_or(b, a + b))                                                 \
    X(sub,      "sub",      f32, canonical(a - b))                                                 \
    X(sub,      "sub",      f64, nan_or(b, a - b))                                                 \
    X(mul,      "mul",      f32, canonical(a * b))                                                 \
    X(mul,      "mul",      f64, nan_or(b, a * b))                                                 \
    X(div,      "div",      f32, canonical(a / b))                                                 \
    X(div_approx, "div.approx", f32, divide_approx(a, b))                                          \
    X(div,      "div",      f64, a / b)                                                            \
    X(min,      "min",      f32, lesser_f32(a, b))                                                 \
    X(min,      "min",      f64, lesser_f64(a, b))                                                 \
    X(max,      "max",      f32, greater_f32(a, b))                                                \
    X(max,      "max",      f64, greater_f64(a, b))                                                \
    X(min_nan,  "min.NaN",  f32, canonical(a != a || b != b ? a + b : lesser_f32(a, b)))           \
    X(max_nan,  "max.NaN",  f32, canonical(a != a || b != b ? a + b : greater_f32(a, b)))          \
    X(copysign, "copysign", f32, __builtin_copysignf(b, a))                                        \
    X(copysign, "copysign", f64, __builtin_copysign(b, a))
/* clang-format on */

#define TERNARY(X)                                                                                 \
    X(fma, "fma", f32, canonical(__builtin_fmaf(a, b, c)))                                         \
    X(fma, "fma", f64, nan_or(b, nan_or(c, __builtin_fma(a, b, c))))

UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)
TERNARY(DEFINE_TERNARY)

/* testp: the predicate says whether a is a number of this kind. */
/* clang-format off */
#define TESTS(X)                                                                                   \
    X(finite, f32, __builtin_isfinite(a[l])) X(finite, f64, __builtin_isfinite(a[l]))              \
    X(infinite, f32, __builtin_isinf(a[l])) X(infinite, f64, __builtin_isinf(a[l]))                \
    X(number, f32, !__builtin_isnan(a[l])) X(number, f64, !__builtin_isnan(a[l]))                  \
    X(notanumber, f32, __builtin_isnan(a[l])) X(notanumber, f64, __builtin_isnan(a[l]))            \
    X(normal, f32, a[l] == 0 || __builtin_isnormal(a[l])) /* zero counts as normal */              \
    X(normal, f64, a[l] == 0 || __builtin_isnormal(a[l]))                                          \
    X(subnormal, f32, is_subnormal(a[l], 0x1p-126)) X(subnormal, f64, is_subnormal(a[l], 0x1p-1022))
/* clang-format on */
static inline bool is_subnormal(double a, double smallest)
{
    return a != 0 && clear_sign(a) < smallest;
}
#define DEFINE_TEST(test, type, value)                                                             \
    static void testp_##test##_##type(struct warp *w, const struct insn *i, uint32_t mask)         \
    {                                                                                              \
        uint32_t *d = slot_at(w, i->d), bits = 0;                                                  \
        const L_##type *a = LANES(type, i->a);                                                     \
        for (int l = 0; l < WARP; l++) bits |= (uint32_t)((value) != 0) << l;                      \
        *d = (*d & ~mask) | (bits & mask);                                                         \
    }
#define ENTRY_TEST(test, type, value)                                                              \
    {"testp." #test "." #type, testp_##test##_##type, "p" W_##type},
TESTS(DEFINE_TEST)

/* ---- 16 bits --------------------------------------------------------------------------------- */

/* clang-format off */
#define HALF_BINARY(X, type)                                                                       \
    X(add, "add", type, a + b)                                                                     \
    X(sub, "sub", type, a - b)                                                                     \
    X(mul, "mul", type, a * b)                                                                     \
    X(min, "min", type, lesser_f32(a, b))                                                          \
    X(max, "max", type, greater_f32(a, b))
#define HALF_UNARY(X, type)                                                                        \
    X(abs, type, bits & 0x7fff) X(neg, type, bits ^ 0x8000)
/* clang-format on */
#define DEFINE_HALF_UNARY(id, type, value)                                                         \
    static inline uint32_t id##_##type##_one(uint32_t bits, bool flush)                            \
    {                                                                                              \
        return is_nan_##type(bits) ? 0x7fff : flush_##type((uint16_t)(value), flush);              \
    }                                                                                              \
    DEFINE_HALVES_1(id, type)
#define ENTRY_HALF_UNARY(id, type, value) ENTRY_HALVES_1(id, type)

/* a + b rounded to odd: an inexact sum gets its last bit set. Then the second rounding, to fewer
 * bits, gives the same result as one rounding of the exact sum. */
#define DEFINE_SUM_TO_ODD(type, bits_type)                                                         \
    static inline T_##type sum_to_odd_##type(T_##type a, T_##type b)                               \
    {                                                                                              \
        T_##type sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);              \
        bits_type bits = bits_of_##type(sum), step = (lost > 0) == (sum > 0) ? 1 : (bits_type)-1;  \
        bool rounds = lost != 0 && sum - sum == 0 && !(bits & 1); /* a finite sum */               \
        return type##_of_bits(bits + (rounds ? step : 0));                                         \
    }
DEFINE_SUM_TO_ODD(f32, uint32_t)
DEFINE_SUM_TO_ODD(f64, uint64_t)

/* A product of two f16 is exact in a float. One of two bf16 is exact, and inside of the range, only
 * in a double. */
INLINE void fma_f16_many(half_16 *d, const half_16 *a, const half_16 *b, const half_16 *c,
                         int count, bool flush)
{
    float x[HALVES], y[HALVES], z[HALVES];
    widen_f16(x, a, count, flush);
    widen_f16(y, b, count, flush);
    widen_f16(z, c, count, flush);
    EACH_HALF(x[k] = sum_to_odd_f32(x[k] * y[k], z[k]));
    narrow_f16(d, x, count, flush);
}
INLINE void fma_bf16_many(half_16 *d, const half_16 *a, const half_16 *b, const half_16 *c,
                          int count, bool flush)
{
    (void)flush;
    EACH_HALF(d[k] = bf16(sum_to_odd_f64((double)f32_of_bf16(a[k]) * f32_of_bf16(b[k]),
                                         (double)f32_of_bf16(c[k]))));
}
#define ENTRY_HALF_FMA(type)                                                                       \
    {"fma." #type, fma_##type, "4444"}, {"fma." #type "x2", fma_##type##x2, "4444"},

HALF_BINARY(DEFINE_HALF_BINARY, f16)
HALF_BINARY(DEFINE_HALF_BINARY, bf16)
HALF_UNARY(DEFINE_HALF_UNARY, f16)
HALF_UNARY(DEFINE_HALF_UNARY, bf16)
DEFINE_MANY_HALVES(fma, f16)
DEFINE_MANY_HALVES(fma, bf16)

/* clang-format off */
static const struct op entries[] = {
    UNARY(ENTRY_UNARY) BINARY(ENTRY_BINARY) TERNARY(ENTRY_TERNARY) TESTS(ENTRY_TEST)
    HALF_BINARY(ENTRY_HALF_BINARY, f16) HALF_BINARY(ENTRY_HALF_BINARY, bf16)
    HALF_UNARY(ENTRY_HALF_UNARY, f16) HALF_UNARY(ENTRY_HALF_UNARY, bf16)
    ENTRY_HALF_FMA(f16) ENTRY_HALF_FMA(bf16)
};
/* clang-format on */
DEFINE_OP_TABLE(ops_float, entries);

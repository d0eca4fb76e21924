/* ops_float.c — floating-point arithmetic, in 32, 64 and 16 bits, and its approximations. */
#include "ops.h"
#include <math.h>

/* ---- floating-point arithmetic (PTX ISA, "Floating-Point Instructions") ---------------------- */

/* add, sub, mul, fma, div, sqrt and rcp follow IEEE 754, as the CPU does. The wrapper in
 * operations.c handles rounding modes, .ftz and .sat. What hardware approximates (.approx, see also
 * below) is more exact here than PTX demands, so the bits may differ from a GPU's. A NaN
 * result of an f32 operation is the canonical 0x7fffffff. An f64 operation passes a NaN's payload
 * on; of several NaNs it is that of b, then of c, then of a. (ptxas exchanges the factors or terms
 * if one is in a uniform register, such as a kernel's parameter: then a GPU passes on a's.) */

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

/* ---- 16-bit floats --------------------------------------------------------------------------- */

/* Min, max, ex2 and tanh of 16-bit floats, and the kinds of min and max that few
 * programs use: .NaN, .xorsign.abs, of three numbers (PTX ISA, "min", "max"). */

static inline float with_nan(float a, float b, float result)
{
    return a != a || b != b ? f32_of_bits(0x7fffffff) : result;
}
static inline float least(float a, float b)
{
    return a != a ? b : b != b ? a : a < b || (a == b && __builtin_signbitf(a)) ? a : b;
}
static inline float most(float a, float b)
{
    return a != a ? b : b != b ? a : a > b || (a == b && !__builtin_signbitf(a)) ? a : b;
}
/* The result has the sign of the product a * b and the magnitude of `result`. */
static inline float sign_of_product(float a, float b, float result)
{
    uint32_t sign = (bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000;
    return result != result ? result : f32_of_bits((bits_of_f32(result) & 0x7fffffff) | sign);
}
#define MAGNITUDE(a) __builtin_fabsf(a)
#define XORSIGN(choose, a, b) sign_of_product(a, b, choose(MAGNITUDE(a), MAGNITUDE(b)))

/* X(id, key, value of floats a and b) */
#define CHOICES(X, type)                                                                           \
    X(min_xor, "min.xorsign.abs", type, XORSIGN(least, a, b))                                      \
    X(max_xor, "max.xorsign.abs", type, XORSIGN(most, a, b))                                       \
    X(min_nan_xor, "min.NaN.xorsign.abs", type, with_nan(a, b, XORSIGN(least, a, b)))              \
    X(max_nan_xor, "max.NaN.xorsign.abs", type, with_nan(a, b, XORSIGN(most, a, b)))
#define NAN_CHOICES(X, type)                                                                       \
    X(min_nan, "min.NaN", type, with_nan(a, b, least(a, b)))                                       \
    X(max_nan, "max.NaN", type, with_nan(a, b, most(a, b)))

#define FLOATS(X)                                                                                  \
    X(min_xor, "min.xorsign.abs", f32, canonical(XORSIGN(least, a, b)))                            \
    X(max_xor, "max.xorsign.abs", f32, canonical(XORSIGN(most, a, b)))                             \
    X(min_nan_xor, "min.NaN.xorsign.abs", f32, with_nan(a, b, XORSIGN(least, a, b)))               \
    X(max_nan_xor, "max.NaN.xorsign.abs", f32, with_nan(a, b, XORSIGN(most, a, b)))
FLOATS(DEFINE_BINARY)

#define THREE(X)                                                                                   \
    X(min_3, "min3", f32, canonical(least(least(a, b), c)))                                        \
    X(max_3, "max3", f32, canonical(most(most(a, b), c)))                                          \
    X(min_3_nan, "min3.NaN", f32, with_nan(a, b, with_nan(c, c, least(least(a, b), c))))           \
    X(max_3_nan, "max3.NaN", f32, with_nan(a, b, with_nan(c, c, most(most(a, b), c))))             \
    X(min_3_abs, "min3.abs", f32,                                                                  \
      canonical(least(least(MAGNITUDE(a), MAGNITUDE(b)), MAGNITUDE(c))))                           \
    X(max_3_abs, "max3.abs", f32, canonical(most(most(MAGNITUDE(a), MAGNITUDE(b)), MAGNITUDE(c)))) \
    X(min_3_nan_abs, "min3.NaN.abs", f32,                                                          \
      with_nan(a, b, with_nan(c, c, least(least(MAGNITUDE(a), MAGNITUDE(b)), MAGNITUDE(c)))))      \
    X(max_3_nan_abs, "max3.NaN.abs", f32,                                                          \
      with_nan(a, b, with_nan(c, c, most(most(MAGNITUDE(a), MAGNITUDE(b)), MAGNITUDE(c)))))
THREE(DEFINE_TERNARY)

CHOICES(DEFINE_HALF_BINARY, f16)
CHOICES(DEFINE_HALF_BINARY, bf16)
NAN_CHOICES(DEFINE_HALF_BINARY, f16)
NAN_CHOICES(DEFINE_HALF_BINARY, bf16)

/* .approx: rounded once here, which is more exact than a GPU. */
#define FUNCTIONS(X, type) X(ex2, type, exp2((double)a)) X(tanh, type, tanh((double)a))
#define DEFINE_FUNCTION(id, type, value)                                                           \
    static inline uint32_t id##_##type##_one(uint32_t p, bool flush)                               \
    {                                                                                              \
        float a = f32_of_##type(flush_##type((uint16_t)p, flush));                                 \
        return flush_##type(type(value), flush);                                                   \
    }                                                                                              \
    DEFINE_HALVES_1(id, type)
#define ENTRY_FUNCTION(id, type, value) ENTRY_HALVES_1(id, type)
FUNCTIONS(DEFINE_FUNCTION, f16)
FUNCTIONS(DEFINE_FUNCTION, bf16)

static const struct op half_entries[] = {
    FLOATS(ENTRY_BINARY) THREE(ENTRY_TERNARY) CHOICES(ENTRY_HALF_BINARY, f16)
        CHOICES(ENTRY_HALF_BINARY, bf16) NAN_CHOICES(ENTRY_HALF_BINARY, f16)
            NAN_CHOICES(ENTRY_HALF_BINARY, bf16) FUNCTIONS(ENTRY_FUNCTION, f16)
                FUNCTIONS(ENTRY_FUNCTION, bf16)};
DEFINE_OP_TABLE(ops_half, half_entries);

/* ---- approximations -------------------------------------------------------------------------- */

/* Ex2, lg2, sin, cos, tanh and rsqrt of floats, which hardware approximates (PTX ISA, ".approx").
 *
 * They are computed in double, by polynomials and without branches, of which the compiler makes
 * vector instructions. The error is at most some 2^-42 of the result, so that nearly every result
 * is the exact one, rounded once. That is more exact than PTX demands, and its bits may differ from
 * a GPU's. All constants are those of Taylor's series. */

/* A number plus this one is rounded to a whole number, whose bits are the last ones of the sum. */
#define WHOLE 0x1.8p52

/* 2 to the power of a whole number from -1000 to 1000, plus WHOLE. */
static inline double power_of_2(double sum)
{
    return f64_of_bits((bits_of_f64(sum) << 52) + bits_of_f64(1.0));
}

/* a * b + c, rounded once or twice: the compiler would call a function where the CPU has no such
 * instruction. */
#if defined __FMA__
#define FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

/* 1 / n! */
#define INVERSE_5  (1 / 120.)
#define INVERSE_6  (1 / 720.)
#define INVERSE_7  (1 / 5040.)
#define INVERSE_8  (1 / 40320.)
#define INVERSE_9  (1 / 362880.)
#define INVERSE_10 (1 / 3628800.)
#define INVERSE_11 (1 / 39916800.)
#define INVERSE_12 (1 / 479001600.)
#define INVERSE_13 (1 / 6227020800.)
#define INVERSE_14 (1 / 87178291200.)
#define INVERSE_15 (1 / 1307674368000.)
#define INVERSE_16 (1 / 20922789888000.)
#define INVERSE_17 (1 / 355687428096000.)

/* ---- exponentials ---------------------------------------------------------------------------- */

/* log 2, its first 32 digits, whose products with small whole numbers are exact, and the rest. */
#define LN2      0x1.62e42fefa39efp-1
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

/* e^s - 1 for |s| up to 0.35. */
static inline double small_expm1(double s)
{
    double sum = FMA(INVERSE_10, s, INVERSE_9);
    sum = FMA(sum, s, INVERSE_8);
    sum = FMA(sum, s, INVERSE_7);
    sum = FMA(sum, s, INVERSE_6);
    sum = FMA(sum, s, INVERSE_5);
    sum = FMA(sum, s, 1. / 24);
    sum = FMA(sum, s, 1. / 6);
    sum = FMA(sum, s, 1. / 2);
    return FMA(s * s, sum, s);
}

/* Beyond the limit the float is 0 or infinity. */
static inline float exp2_of(float a)
{
    const float limit = 200;
    float near = a < -limit ? -limit : a;
    double x = near > limit ? limit : near, sum = x + WHOLE, rest = x - (sum - WHOLE);
    double power = power_of_2(sum);
    return (float)FMA(power, small_expm1(rest * LN2), power);
}

/* By E = e^2|x| - 1, which is exact near 0, too: E / (E + 2). Beyond the limit the float is 1. */
static inline float tanh_of(float a)
{
    const float limit = 20;
    float x = __builtin_fabsf(a);
    double y = 2 * (double)(x > limit ? limit : x), sum = FMA(y, 1 / LN2, WHOLE),
           whole = sum - WHOLE, power = power_of_2(sum);
    double rest = FMA(whole, -LN2_LOW, FMA(whole, -LN2_HIGH, y));
    double e = FMA(power, small_expm1(rest), power - 1);
    return __builtin_copysignf((float)(e / (e + 2)), a);
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* 1 / √a. Floats give it to 23 bits, and a step of Newton's method doubles their number. */
static inline float approx_rsqrt(float a)
{
    double x = a, y = 1 / __builtin_sqrtf(a);
    y *= FMA(-0.5 * x * y, y, 1.5);
    float positive = a == INFINITY ? 0 : (float)y;
    return a > 0 ? positive : a == 0 ? __builtin_copysignf(INFINITY, a) : NAN;
}

/* ---- logarithms ------------------------------------------------------------------------------ */

/* x is 2^exponent * m with m from √½ to √2; log m = 2 artanh((m - 1) / (m + 1)). */
static inline float log2_of(float a)
{
    const uint64_t one = bits_of_f64(1.0), root = bits_of_f64(0x1.6a09e667f3bcdp-1);
    uint64_t bits = bits_of_f64(a), biased = (bits + (one - root)) >> 52;
    double exponent = f64_of_bits(biased | bits_of_f64(0x1p52)) - (0x1p52 + 1023);
    double m = f64_of_bits(bits + one - (biased << 52)), s = (m - 1) / (m + 1), z = s * s;
    double sum = FMA(1. / 19, z, 1. / 17);
    sum = FMA(sum, z, 1. / 15);
    sum = FMA(sum, z, 1. / 13);
    sum = FMA(sum, z, 1. / 11);
    sum = FMA(sum, z, 1. / 9);
    sum = FMA(sum, z, 1. / 7);
    sum = FMA(sum, z, 1. / 5);
    sum = FMA(sum, z, 1. / 3);
    float result = (float)FMA(FMA(s * z, sum, s), 2 / LN2, exponent);
    result = a == INFINITY ? a : result;
    return a > 0 ? result : a == 0 ? -INFINITY : NAN;
}

/* ---- sine and cosine ------------------------------------------------------------------------- */

/* π/2 in parts, of which the first two have 33 digits. */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define FARTHEST  0x1p20 /* the largest number for which that is enough */

/* The sine of x + turn · π/2. */
static inline float sine_of(float a, uint64_t turn)
{
    double x = a, sum = FMA(x, 1 / (HALF_PI_1 + HALF_PI_2), WHOLE), whole = sum - WHOLE;
    double r = FMA(whole, -HALF_PI_3, FMA(whole, -HALF_PI_2, FMA(whole, -HALF_PI_1, x)));
    double z = r * r;
    uint64_t quarter = bits_of_f64(sum) + turn;
    double sine = FMA(INVERSE_17, z, -INVERSE_15);
    sine = FMA(sine, z, INVERSE_13);
    sine = FMA(sine, z, -INVERSE_11);
    sine = FMA(sine, z, INVERSE_9);
    sine = FMA(sine, z, -INVERSE_7);
    sine = FMA(sine, z, INVERSE_5);
    sine = FMA(sine, z, -1. / 6);
    double cosine = FMA(INVERSE_16, z, -INVERSE_14);
    cosine = FMA(cosine, z, INVERSE_12);
    cosine = FMA(cosine, z, -INVERSE_10);
    cosine = FMA(cosine, z, INVERSE_8);
    cosine = FMA(cosine, z, -INVERSE_6);
    cosine = FMA(cosine, z, 1. / 24);
    cosine = FMA(cosine, z, -1. / 2);
    double result = quarter & 1 ? FMA(cosine, z, 1) : r * FMA(sine, z, 1);
    return (float)(quarter & 2 ? -result : result);
}

/* ---- the operations -------------------------------------------------------------------------- */

/* X(id, value for the float a, and what the C library has for numbers that are too far) */
#define APPROX(X)                                                                                  \
    X(ex2, exp2_of(a), 0)                                                                          \
    X(lg2, log2_of(a), 0)                                                                          \
    X(sin, sine_of(a, 0), sin)                                                                     \
    X(cos, sine_of(a, 1), cos)                                                                     \
    X(tanh, tanh_of(a), 0)                                                                         \
    X(rsqrt, approx_rsqrt(a), 0)
#define DEFINE_APPROX(id, value, far)                                                              \
    static inline float id##_of_lane(float a) { return value; }                                    \
    static void id##_f32(struct warp *w, const struct insn *i, uint32_t mask)                      \
    {                                                                                              \
        lane_float *d = LANES(f32, i->d);                                                          \
        const lane_float *a = LANES(f32, i->a);                                                    \
        double (*const beyond)(double) = far;                                                      \
        float result[WARP];                                                                        \
        bool are_near = true;                                                                      \
        if (beyond) EVERY_LANE are_near &= __builtin_fabsf(a[l]) <= FARTHEST;                      \
        EVERY_LANE result[l] = id##_of_lane(a[l]);                                                 \
        for (int l = 0; l < WARP && !are_near; l++)                                                \
            if (!(__builtin_fabsf(a[l]) <= FARTHEST)) result[l] = (float)beyond(a[l]);             \
        FOR_LANES(d, canonical(result[l]));                                                        \
    }
APPROX(DEFINE_APPROX)

#define ENTRY_APPROX(id, ...) {#id ".f32", id##_f32, "44"},
static const struct op approx_entries[] = {APPROX(ENTRY_APPROX)};
DEFINE_OP_TABLE(ops_approx, approx_entries);

/*
 * ops_approx.c — ex2, lg2, sin, cos, tanh and rsqrt of floats, which hardware approximates (PTX
 * ISA, ".approx").
 *
 * They are computed in double, by polynomials and without branches, of which the compiler makes
 * vector instructions. The error is at most some 2^-42 of the result, so that nearly every result
 * is the exact one, rounded once. That is more exact than PTX demands, and its bits may differ from
 * a GPU's. All constants are those of Taylor's series.
 */
#include "ops_half.h"
#include <math.h>

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

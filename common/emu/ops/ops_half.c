/*
 * ops_half.c — min, max, ex2 and tanh of 16-bit floats, and the kinds of min and max that few
 * programs use: .NaN, .xorsign.abs, of three numbers (PTX ISA, "min", "max").
 */
#include "ops_half.h"
#include <math.h>

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

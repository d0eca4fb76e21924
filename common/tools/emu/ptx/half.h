/* half.h — the bits of floating-point numbers; converts the 16-bit formats f16 and bf16 from and to
 * float and double, with any rounding. (gcc's _Float16 only rounds to nearest even.) */
#ifndef EMU_HALF_H
#define EMU_HALF_H

#include <stdint.h>
#include <string.h>

static inline float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bit of a NaN that says that it is quiet. */
#define QUIET_F64 (UINT64_C(1) << 51)

static inline int is_nan_f16(uint32_t bits) { return (bits & 0x7fff) > 0x7c00; }
static inline int is_nan_bf16(uint32_t bits) { return (bits & 0x7fff) > 0x7f80; }

/* Without branches, so that the compiler makes vector instructions of it. */
static inline float f32_of_f16(uint16_t bits)
{
    const uint32_t exponents = 0x7c00 << 13;
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, number = (uint32_t)(bits & 0x7fff) << 13;
    uint32_t exponent = number & exponents, moved = number + ((127 - 15) << 23);
    /* A denormal number gets a leading digit, which is subtracted again. */
    uint32_t small = bits_of_f32(f32_of_bits(moved + (1 << 23)) - 0x1p-14f);
    uint32_t large = moved + (exponent == exponents ? (128 - 16) << 23 : 0); /* infinity, NaN */
    return f32_of_bits(sign | (exponent ? large : small));
}

/* Rounds to nearest even, also without branches. */
static inline uint16_t f16_of_f32(float value)
{
    const uint32_t infinity = 0x7f800000, too_large = (127 + 16) << 23, normal = (127 - 14) << 23;
    uint32_t bits = bits_of_f32(value), sign = bits >> 16 & 0x8000, number = bits & 0x7fffffff;
    /* Adding 0.5 leaves the digits of a denormal number at the end, rounded. */
    uint32_t small = bits_of_f32(f32_of_bits(number) + 0.5f) - bits_of_f32(0.5f);
    uint32_t large = (number - ((127 - 15) << 23) + 0xfff + (number >> 13 & 1)) >> 13;
    uint32_t rounded = number < normal ? small : number < too_large ? large : 0x7c00;
    return (uint16_t)(number > infinity ? 0x7fff : sign | rounded);
}

/* The same for bf16. */
static inline uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

enum round_to { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };

/* Rounds a value to a 16-bit format with `fraction_bits` explicit fraction bits, whose normal
 * numbers have the exponents `emin` to `emax`. Returns the bits of the format. */
static inline uint16_t round_to_16(double value, int fraction_bits, int emin, int emax,
                                   enum round_to how)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & 0xfffffffffffff;
    uint16_t exponent_field =
        (uint16_t)((emax - emin + 2) << fraction_bits); /* all ones: infinity */
    if (exponent == 1024) return fraction ? 0x7fff : (uint16_t)(sign | exponent_field);
    if (exponent == -1023)
        exponent = -1022; /* zero or a denormal double: too small for both formats */
    else
        fraction |= UINT64_C(1) << 52;

    int drop = 52 - fraction_bits + (exponent < emin ? emin - exponent : 0);
    uint64_t kept = 0, rest = 0, half = 0;
    if (drop > 63) {
        rest = fraction != 0;
        half = 2;
    } else {
        kept = fraction >> drop;
        rest = fraction & ((UINT64_C(1) << drop) - 1);
        half = UINT64_C(1) << (drop - 1);
    }
    int up = how == ROUND_NEAREST ? rest > half || (rest == half && (kept & 1))
             : how == ROUND_UP    ? rest && !sign
             : how == ROUND_DOWN  ? rest && sign
                                  : 0;
    kept += (uint64_t)up;
    /* In a normal number, `kept` includes the leading bit, which adds 1 to the exponent field
     * below. */
    uint64_t result =
        exponent < emin ? kept : kept + ((uint64_t)(exponent - emin) << fraction_bits);
    if (result >=
        exponent_field) { /* overflow: infinity, or the largest number if rounding stays inside */
        int to_infinity =
            how == ROUND_NEAREST || (how == ROUND_UP && !sign) || (how == ROUND_DOWN && sign);
        result = to_infinity ? exponent_field : (uint64_t)exponent_field - 1;
    }
    return (uint16_t)(sign | result);
}

static inline uint16_t f16_of_f64(double value, enum round_to how)
{
    return round_to_16(value, 10, -14, 15, how);
}

static inline uint16_t bf16_of_f64(double value, enum round_to how)
{
    return round_to_16(value, 7, -126, 127, how);
}

/* .ftz: a denormal becomes a zero of its sign. bf16 has no .ftz. */
static inline uint16_t flush_f16(uint16_t bits, int flush)
{
    return (uint16_t)(flush && !(bits & 0x7c00) ? bits & 0x8000 : bits);
}

static inline float flush_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    return bits & 0x7f800000 ? value : f32_of_bits(bits & 0x80000000);
}

/* What an atomic makes of a float. Those on global memory flush denormals; those on shared memory,
 * and bulk copies that add, do not. */
static inline uint32_t atomic_sum_f32(uint32_t old, uint32_t b, int flush)
{
    float x = f32_of_bits(old), y = f32_of_bits(b), sum = x + y;
    uint32_t bits = bits_of_f32(sum), exponent = bits >> 23 & 0xff;
    const uint32_t least = 28, nan = 255; /* from 2^-99 on, no denormal changes the sum */
    if (exponent - least < nan - least) return bits;
    if (flush) sum = flush_f32(flush_f32(x) + flush_f32(y));
    return sum == sum ? bits_of_f32(sum) : 0x7fffffff;
}

static inline uint16_t flush_bf16(uint16_t bits, int flush)
{
    (void)flush;
    return bits;
}

static inline float f32_of_bf16(uint16_t bits) { return f32_of_bits((uint32_t)bits << 16); }

#endif

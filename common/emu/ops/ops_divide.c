/*
 * ops_divide.c — division of 64-bit integers (PTX ISA, "div", "rem").
 *
 * CPUs have no vector instruction for it. Numbers of up to 48 bits, such as indices, are divided as
 * doubles; a divisor that all lanes share is inverted once. Larger numbers are divided lane by
 * lane.
 */
#include "common/emu/ptx/half.h"
#include "ops.h"

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

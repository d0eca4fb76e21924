/*
 * Finite numbers become a sign, an integer of at most 128 bits and a power of two. add, sub, mul,
 * fma, div and sqrt make such a number of them, whose integer has more bits than a double. The
 * last step rounds it. Results that are infinite or not numbers because of the operands do not
 * depend on the rounding: the processor computes them.
 */
#include "soft_float.h"
#include <fenv.h>
#include <float.h>
#include <math.h>

/* (-1)^is_negative · digits · 2^exponent. With `more`, the magnitude is larger than that, by less
 * than 2^exponent. */
struct exact {
    bool is_negative, more;
    int exponent;
    unsigned __int128 digits;
};

/* TOP is the highest bit that digits use before an addition, so that the sum does not overflow. */
enum { BITS = 128, TOP = 125, DOUBLE_DIGITS = 53 };

static int highest_bit(unsigned __int128 digits)
{
    uint64_t high = (uint64_t)(digits >> 64), low = (uint64_t)digits;
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

static struct exact exact_of(double value)
{
    struct exact x = {.is_negative = signbit(value)};
    if (value == 0) return x;
    double fraction = frexp(fabs(value), &x.exponent);
    x.digits = (uint64_t)ldexp(fraction, DOUBLE_DIGITS);
    x.exponent -= DOUBLE_DIGITS;
    return x;
}

/* ---- operations on finite numbers ------------------------------------------------------------ */

/* Moves the highest digit to TOP. */
static void move_to_top(struct exact *x)
{
    if (!x->digits) return;
    int distance = TOP - highest_bit(x->digits);
    x->digits <<= distance;
    x->exponent -= distance;
}

static void move_right(struct exact *x, int distance)
{
    bool all = distance >= BITS;
    unsigned __int128 lost = all ? x->digits : x->digits & (((unsigned __int128)1 << distance) - 1);
    x->digits = all ? 0 : x->digits >> distance;
    x->exponent += distance;
    x->more |= lost != 0;
}

static bool is_larger(const struct exact *a, const struct exact *b)
{
    if (!a->digits || !b->digits) return a->digits != 0;
    return a->exponent != b->exponent ? a->exponent > b->exponent : a->digits > b->digits;
}

/* A sum of 0 has the sign of both terms; if they differ, it is positive, unless rounded down. */
static struct exact zero_sum(const struct exact *a, const struct exact *b, int rounding)
{
    bool is_negative = a->is_negative == b->is_negative ? a->is_negative : rounding == FE_DOWNWARD;
    return (struct exact){.is_negative = is_negative};
}

static struct exact add(struct exact a, struct exact b, int rounding)
{
    if (!a.digits && !b.digits) return zero_sum(&a, &b, rounding);
    move_to_top(&a);
    move_to_top(&b);
    struct exact large = is_larger(&a, &b) ? a : b, small = is_larger(&a, &b) ? b : a;
    if (!small.digits) return large;
    move_right(&small, large.exponent - small.exponent);
    struct exact sum = large;
    sum.more = small.more;
    if (large.is_negative == small.is_negative)
        sum.digits += small.digits;
    else
        sum.digits -= small.digits + small.more; /* a little less than that is subtracted */
    return sum.digits ? sum : zero_sum(&a, &b, rounding);
}

static struct exact multiply(struct exact a, struct exact b)
{
    return (struct exact){.is_negative = a.is_negative != b.is_negative,
                          .exponent = a.exponent + b.exponent,
                          .digits = a.digits * b.digits};
}

/* b is not 0. */
static struct exact divide(struct exact a, struct exact b)
{
    enum { SHIFT = 70 }; /* 53 + 70 bits by 53 bits give at least 70 */
    unsigned __int128 dividend = a.digits << SHIFT;
    return (struct exact){.is_negative = a.is_negative != b.is_negative,
                          .more = dividend % b.digits != 0,
                          .exponent = a.exponent - b.exponent - SHIFT,
                          .digits = dividend / b.digits};
}

/* a is not below 0. */
static struct exact square_root(struct exact a)
{
    if (!a.digits) return a;
    int shift = 124 - highest_bit(a.digits);
    shift -= (a.exponent - shift) & 1; /* the exponent is halved */
    unsigned __int128 left = a.digits << shift, root = 0;
    for (unsigned __int128 bit = (unsigned __int128)1 << 126; bit; bit >>= 2) {
        if (left >= root + bit) {
            left -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (struct exact){.more = left != 0, .exponent = (a.exponent - shift) / 2, .digits = root};
}

/* ---- rounding -------------------------------------------------------------------------------- */

struct format {
    int digits, least_exponent; /* of the last digit of the smallest number */
    double largest, smallest;   /* of the normal numbers */
};
static const struct format of_float = {FLT_MANT_DIG, FLT_MIN_EXP - FLT_MANT_DIG, FLT_MAX, FLT_MIN},
                           of_double = {DBL_MANT_DIG, DBL_MIN_EXP - DBL_MANT_DIG, DBL_MAX, DBL_MIN};

/* Is the magnitude rounded up? It lies above the digits that are kept, by `rest` of `unit`. */
static bool rounds_up(const struct exact *x, unsigned __int128 rest, unsigned __int128 unit,
                      bool is_odd, int rounding)
{
    bool is_inexact = rest || x->more;
    unsigned __int128 half = unit >> 1;
    switch (rounding) {
    case FE_UPWARD: return is_inexact && !x->is_negative;
    case FE_DOWNWARD: return is_inexact && x->is_negative;
    case FE_TOWARDZERO: return false;
    default: return rest > half || (rest == half && (x->more || is_odd));
    }
}

/* Rounds to a multiple of 2^exponent, which is above x's. */
static double round_at(const struct exact *x, int exponent, int rounding)
{
    int distance = exponent - x->exponent;
    if (distance <= 0) return ldexp((double)x->digits, x->exponent); /* all digits are kept */
    struct exact far = *x;
    if (distance > TOP) { /* less than a quarter of the unit */
        far.digits = 0;
        far.more = true;
        distance = 2;
    }
    unsigned __int128 unit = (unsigned __int128)1 << distance;
    unsigned __int128 kept = far.digits >> distance, rest = far.digits & (unit - 1);
    kept += rounds_up(&far, rest, unit, kept & 1, rounding);
    return ldexp((double)kept, exponent);
}

static double overflow(bool is_negative, const struct format *f, int rounding)
{
    bool stays = rounding == FE_TOWARDZERO || rounding == (is_negative ? FE_UPWARD : FE_DOWNWARD);
    return stays ? f->largest : INFINITY;
}

static double round_exact(struct exact x, const struct soft_rules *rules)
{
    const struct format *f = rules->is_double ? &of_double : &of_float;
    double magnitude = 0;
    if (x.digits) {
        int wanted = x.exponent + highest_bit(x.digits) - (f->digits - 1);
        /* A result is flushed if it is too small when rounded to all digits of a normal number. */
        bool is_small = wanted < f->least_exponent;
        int scale = is_small ? f->least_exponent - wanted : 0;
        struct exact scaled = x;
        scaled.exponent += scale;
        bool flushed =
            rules->flush && is_small &&
            round_at(&scaled, wanted + scale, rules->rounding) < ldexp(f->smallest, scale);
        magnitude =
            flushed ? 0 : round_at(&x, is_small ? f->least_exponent : wanted, rules->rounding);
        if (magnitude > f->largest) magnitude = overflow(x.is_negative, f, rules->rounding);
    }
    return x.is_negative ? -magnitude : magnitude;
}

/* ---- the operations with any operands -------------------------------------------------------- */

static double by_processor(enum soft_operation operation, const double *o)
{
    switch (operation) {
    case SOFT_ADD: return o[0] + o[1];
    case SOFT_SUB: return o[0] - o[1];
    case SOFT_MUL: return o[0] * o[1];
    case SOFT_FMA: return fma(o[0], o[1], o[2]);
    case SOFT_DIV: return o[0] / o[1];
    case SOFT_SQRT: return sqrt(o[0]);
    case SOFT_RCP: return 1 / o[0];
    case SOFT_CONVERT: return o[0];
    }
    return NAN;
}

static bool is_special(enum soft_operation operation, const double *o)
{
    bool two = operation != SOFT_SQRT && operation != SOFT_RCP && operation != SOFT_CONVERT;
    if (!isfinite(o[0]) || (two && !isfinite(o[1]))) return true;
    switch (operation) {
    case SOFT_FMA: return !isfinite(o[2]);
    case SOFT_DIV: return o[1] == 0;
    case SOFT_RCP: return o[0] == 0;
    case SOFT_SQRT: return o[0] <= 0;
    default: return false;
    }
}

double soft_float(enum soft_operation operation, const double operands[3],
                  const struct soft_rules *rules)
{
    if (is_special(operation, operands)) return by_processor(operation, operands);
    struct exact a = exact_of(operands[0]), b, result = a;
    switch (operation) {
    case SOFT_ADD: result = add(a, exact_of(operands[1]), rules->rounding); break;
    case SOFT_SUB: result = add(a, exact_of(-operands[1]), rules->rounding); break;
    case SOFT_MUL: result = multiply(a, exact_of(operands[1])); break;
    case SOFT_FMA:
        b = multiply(a, exact_of(operands[1]));
        result = add(b, exact_of(operands[2]), rules->rounding);
        break;
    case SOFT_DIV: result = divide(a, exact_of(operands[1])); break;
    case SOFT_SQRT: result = square_root(a); break;
    case SOFT_RCP: result = divide(exact_of(1), a); break;
    case SOFT_CONVERT: break;
    }
    return round_exact(result, rules);
}

double soft_of_integer(bool is_negative, uint64_t magnitude, const struct soft_rules *rules)
{
    return round_exact((struct exact){.is_negative = is_negative && magnitude, .digits = magnitude},
                       rules);
}

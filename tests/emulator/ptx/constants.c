/* constants.c — PTX's number types: reads, writes and rounds them. */
#include "numbers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct type types[] = {
    {"u8", UNSIGNED, 8, 'h', 0, 0},    {"u16", UNSIGNED, 16, 'h', 0, 0},
    {"u32", UNSIGNED, 32, 'r', 0, 0},  {"u64", UNSIGNED, 64, 'l', 0, 0},
    {"s8", SIGNED, 8, 'h', 0, 0},      {"s16", SIGNED, 16, 'h', 0, 0},
    {"s32", SIGNED, 32, 'r', 0, 0},    {"s64", SIGNED, 64, 'l', 0, 0},
    {"b8", BITS, 8, 'h', 0, 0},        {"b16", BITS, 16, 'h', 0, 0},
    {"b32", BITS, 32, 'r', 0, 0},      {"b64", BITS, 64, 'l', 0, 0},
    {"f16", FLOAT, 16, 'h', 11, 15},   {"bf16", FLOAT, 16, 'h', 8, 127},
    {"f32", FLOAT, 32, 'f', 24, 127},  {"f64", FLOAT, 64, 'd', 53, 1023},
    {"f16x2", BITS, 32, 'r', 0, 0},    {"bf16x2", BITS, 32, 'r', 0, 0},
    {"pred", PREDICATE, 1, 'p', 0, 0},
};

const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    cr_assert_fail("no type '%s'", name);
    abort();
}

const struct type *packed_type(const char *name)
{
    if (!strcmp(name, "f16x2")) return find_type("f16");
    if (!strcmp(name, "bf16x2")) return find_type("bf16");
    return NULL;
}

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t mask_of(const struct type *t)
{
    return t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1;
}

wide get_integer(const struct type *t, union value v)
{
    uint64_t bits = v.u64 & mask_of(t);
    bool negative = t->kind == SIGNED && bits >> (t->bits - 1);
    return negative ? (wide)bits - ((wide)1 << t->bits) : bits;
}

union value put_integer(const struct type *t, wide n)
{
    return (union value){.u64 = (uint64_t)n & mask_of(t)};
}

__int128 least(const struct type *t)
{
    return t->kind == SIGNED ? -((__int128)1 << (t->bits - 1)) : 0;
}

__int128 greatest(const struct type *t)
{
    return ((__int128)1 << (t->kind == SIGNED ? t->bits - 1 : t->bits)) - 1;
}

/* ---- real numbers ---------------------------------------------------------------------------- */

/* An IEEE number is sign, biased exponent, fraction, from the left. */
static int fraction_bits(const struct type *t) { return t->mantissa - 1; }
static int least_exponent(const struct type *t) { return 1 - t->exponent; }
static uint64_t sign_bit(const struct type *t) { return UINT64_C(1) << (t->bits - 1); }
static uint64_t exponent_ones(const struct type *t) { return 2 * (uint64_t)t->exponent + 1; }

static uint64_t biased(const struct type *t, union value v)
{
    return (v.u64 & ~sign_bit(t) & mask_of(t)) >> fraction_bits(t);
}

static uint64_t fraction(const struct type *t, union value v)
{
    return v.u64 & ((UINT64_C(1) << fraction_bits(t)) - 1);
}

bool is_nan(const struct type *t, union value v)
{
    return t->kind == FLOAT && biased(t, v) == exponent_ones(t) && fraction(t, v);
}

bool is_subnormal(const struct type *t, union value v)
{
    return t->kind == FLOAT && biased(t, v) == 0 && fraction(t, v);
}

union value flush(const struct type *t, union value v)
{
    if (is_subnormal(t, v)) v.u64 &= sign_bit(t);
    return v;
}

union value negate(const struct type *t, union value v)
{
    return (union value){.u64 = (v.u64 ^ sign_bit(t)) & mask_of(t)};
}

long double get_real(const struct type *t, union value v)
{
    if (t->kind != FLOAT) {
        wide n = get_integer(t, v);
        return t->kind == SIGNED ? (long double)(__int128)n : (long double)n;
    }
    long double magnitude;
    if (biased(t, v) == exponent_ones(t))
        magnitude = fraction(t, v) ? NAN : INFINITY;
    else if (biased(t, v) == 0)
        magnitude = ldexpl(fraction(t, v), least_exponent(t) - fraction_bits(t));
    else
        magnitude = ldexpl(fraction(t, v) | UINT64_C(1) << fraction_bits(t),
                           (int)biased(t, v) - t->exponent - fraction_bits(t));
    return v.u64 & sign_bit(t) ? -magnitude : magnitude;
}

static union value encode(const struct type *t, bool negative, uint64_t exponent, uint64_t fraction)
{
    return (union value){.u64 = (negative ? sign_bit(t) : 0) | exponent << fraction_bits(t) |
                                fraction};
}

union value put_real(const struct type *t, long double hi, long double lo, enum rounding rounding)
{
    uint64_t all = (UINT64_C(1) << fraction_bits(t)) - 1;
    if (isnan(hi)) return encode(t, false, exponent_ones(t), all);

    bool negative = signbit(hi);
    long double x = fabsl(hi), rest = negative ? -lo : lo;
    if (isinf(x)) return encode(t, negative, exponent_ones(t), 0);
    if (x == 0) return encode(t, negative, 0, 0);

    /* In units of the result's last place: `whole` can be kept, `part` is cut off. */
    int e = ilogbl(x) < least_exponent(t) ? least_exponent(t) : ilogbl(x);
    long double units = ldexpl(x, fraction_bits(t) - e);
    long double whole = floorl(units), part = units - whole;

    bool inexact = part > 0, away = false;
    switch (rounding) {
    case NEAREST:
        away = part > 0.5L || (part == 0.5L && (rest > 0 || (rest == 0 && fmodl(whole, 2) == 1)));
        break;
    case ZERO: break;
    case DOWN: away = inexact && negative; break;
    case UP: away = inexact && !negative; break;
    }
    if (away) whole += 1;

    uint64_t n = (uint64_t)whole; /* with the hidden bit; may have carried into the next exponent */
    if (n >> t->mantissa) n >>= 1, e++;
    if (e > t->exponent) {
        bool to_infinity = rounding == NEAREST || rounding == (negative ? DOWN : UP);
        return to_infinity ? encode(t, negative, exponent_ones(t), 0)
                           : encode(t, negative, exponent_ones(t) - 1, all);
    }
    bool normal = n >> fraction_bits(t);
    return encode(t, negative, normal ? (uint64_t)(e + t->exponent) : 0, n & all);
}

/* ---- edge values ----------------------------------------------------------------------------- */

static const uint64_t integer_few[] = {
    0,
    1,
    5,
    31,
    32,
    0x7f,
    0x8000,
    0x7fffffff,
    0x80000000,
    0x8000000000000000,
    0x7fffffffffffffff,
    0xffffffffffffffff,
    0x123456789abcdef0,
};

static const uint64_t integer_more[] = {
    2,
    3,
    7,
    8,
    9,
    15,
    16,
    17,
    24,
    30,
    33,
    63,
    64,
    65,
    0x80,
    0xfe,
    0xff,
    0x100,
    0x101,
    0x7fff,
    0x8001,
    0xffff,
    0x10000,
    0x10001,
    0x55555555,
    0xaaaaaaaa,
    0x80000001,
    0xffffffff,
    0x100000000,
    0xffffffff00000000,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
    0xfffffffffffffffe,
    0x8000000000000001,
    0xdeadbeefcafef00d,
};

/* Numbers that every floating-point type rounds to one of its own … */
static const double real_few[] = {0.0, -0.0, 1.0, -1.5, 0.1, -3e4, INFINITY, NAN};
static const double real_more[] = {
    -INFINITY, 0.5,     -0.5,       1.5,      2.5,         -2.5,   -1.0,       2.0,    1.0 / 3,
    3.14159,   -7.25,   0.99999994, 1.001,    100.5,       255.0,  256.5,      32767,  -32768.5,
    65504,     65536.0, 16777216,   16777217, -2147483648, 1e-7,   4294967296, 1e-30,  -1e30,
    8.5e18,    1.9e19,  -9.3e18,    -0.25,    0.75,        -127.5, 2147483520, 1e-300, 1e300,
};

/* … and those that depend on its format, as exponent and fraction fields. */
static size_t special_values(const struct type *t, bool few, union value *edges)
{
    uint64_t all = (UINT64_C(1) << fraction_bits(t)) - 1, quiet = (all >> 1) + 1;
    uint64_t ones = exponent_ones(t), one = (uint64_t)t->exponent;
    size_t n = 0;
    edges[n++] = encode(t, false, 0, 1);          /* the smallest subnormal */
    edges[n++] = encode(t, true, 0, all);         /* the greatest subnormal, negative */
    edges[n++] = encode(t, false, 1, 0);          /* the smallest normal */
    edges[n++] = encode(t, false, ones - 1, all); /* the greatest finite */
    if (few) return n;
    edges[n++] = encode(t, false, one, 1);      /* just above 1 */
    edges[n++] = encode(t, true, one - 1, all); /* just below 1, negative */
    edges[n++] = encode(t, true, ones - 1, all);
    edges[n++] = encode(t, true, 1, 1);
    edges[n++] = encode(t, true, ones, quiet | 5);   /* a quiet NaN with sign and payload */
    edges[n++] = encode(t, false, ones, quiet >> 1); /* a signalling NaN */
    return n;
}

size_t edge_values(const struct type *t, bool few, union value edges[MAX_EDGES])
{
    size_t n = 0;
    const struct type *half = packed_type(t->name);
    if (half) { /* pairs of neighbouring edge values, so that the halves differ */
        size_t count = edge_values(half, few, edges);
        uint64_t first = edges[0].u64;
        for (; n < count; n++) edges[n].u64 |= (n + 1 < count ? edges[n + 1].u64 : first) << 16;
        return n;
    }
    switch (t->kind) {
    case PREDICATE:
        edges[n++] = (union value){.u64 = 0};
        edges[n++] = (union value){.u64 = 1};
        return n;
    case FLOAT:
        for (size_t i = 0; i < sizeof real_few / sizeof *real_few; i++)
            edges[n++] = put_real(t, real_few[i], 0, NEAREST);
        n += special_values(t, few, edges + n);
        for (size_t i = 0; !few && i < sizeof real_more / sizeof *real_more; i++)
            edges[n++] = put_real(t, real_more[i], 0, NEAREST);
        break;
    default: /* integers: cut to the type, so that smaller types see them as other edges */
        for (size_t i = 0; i < sizeof integer_few / sizeof *integer_few; i++)
            edges[n++] = put_integer(t, integer_few[i]);
        edges[n++] = put_integer(t, (wide)least(t));
        edges[n++] = put_integer(t, (wide)greatest(t));
        for (size_t i = 0; !few && i < sizeof integer_more / sizeof *integer_more; i++)
            edges[n++] = put_integer(t, integer_more[i]);
    }
    cr_assert(n <= MAX_EDGES);
    return n;
}

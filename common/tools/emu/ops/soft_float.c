/* soft_float.c — floating-point arithmetic and rounding in integers, for WebAssembly. */
#include "ops.h"
#include <fenv.h>
#include <float.h>
#include <math.h>

/* ---- numbers --------------------------------------------------------------------------------- */

/* Finite numbers become a sign, an integer of at most 128 bits and a power of two. add, sub, mul,
 * fma, div and sqrt make such a number of them, whose integer has more bits than a double. The
 * last step rounds it. Results that are infinite or not numbers because of the operands do not
 * depend on the rounding: the processor computes them. */

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

/* ---- roundings ------------------------------------------------------------------------------- */

/* An x86 processor has modes for roundings and for denormal numbers in MXCSR (ops_rules.c).
 * WebAssembly has neither, and ignores fesetround without a word. There, operations whose result
 * depends on the rounding are computed in integers. All others run on flushed copies of their
 * operands. */

#if !defined __x86_64__
#include <math.h>
#include <string.h>

/* ---- in software: operations that round ------------------------------------------------------ */

enum source { OF_FLOAT, OF_DOUBLE, OF_UNSIGNED, OF_SIGNED };
struct soft_call {
    enum soft_operation operation;
    enum source source;
    unsigned operands, source_bytes;
    struct soft_rules rules;
};

static double flushed(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0, (double)value) : (double)value;
}

static double operand(const struct warp *w, const struct soft_call *call, slot s, int lane)
{
    if (call->source == OF_DOUBLE) return LANES(f64, s)[lane];
    float value = LANES(f32, s)[lane];
    return call->rules.flush ? flushed(value) : (double)value;
}

/* A register of 8 or 16 bits is extended to 32 bits by its type, as race.h says. */
static double rounded_integer(const struct warp *w, const struct soft_call *call, slot s, int lane)
{
    uint64_t bits = call->source_bytes == 8 ? LANES(u64, s)[lane] : LANES(u32, s)[lane];
    unsigned unused = 64 - 8 * call->source_bytes;
    bits = bits << unused >> unused;
    if (call->source == OF_SIGNED) bits = (uint64_t)((int64_t)(bits << unused) >> unused);
    bool is_negative = call->source == OF_SIGNED && (int64_t)bits < 0;
    return soft_of_integer(is_negative, is_negative ? 0 - bits : bits, &call->rules);
}

static double result_of_lane(const struct warp *w, const struct insn *i,
                             const struct soft_call *call, int lane)
{
    const slot sources[] = {i->a, i->b, i->c};
    double operands[3] = {0};
    if (call->source >= OF_UNSIGNED) return rounded_integer(w, call, i->a, lane);
    for (unsigned k = 0; k < call->operands; k++) operands[k] = operand(w, call, sources[k], lane);
    return soft_float(call->operation, operands, &call->rules);
}

static void run_soft_call(struct warp *w, const struct insn *i, uint32_t mask,
                          const struct soft_call *call)
{
    for (int lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1)) continue;
        double result = result_of_lane(w, i, call, lane);
        if (call->rules.is_double)
            LANES(f64, i->d)[lane] = result;
        else if (result != result)
            LANES(u32, i->d)[lane] = 0x7fffffff; /* as in ops_float.c */
        else
            LANES(f32, i->d)[lane] = (float)result;
    }
}

/* ---- in software: which operation is it? ----------------------------------------------------- */

/* The source of a conversion by its type, "u8" to "s64", "f32" or "f64". False: another one. */
static bool set_source(struct soft_call *call, const char *type)
{
    unsigned bits = 0;
    for (const char *digit = type + 1; *digit >= '0' && *digit <= '9'; digit++)
        bits = 10 * bits + (unsigned)(*digit - '0');
    call->source_bytes = bits / 8;
    call->source = *type == 'u' ? OF_UNSIGNED : *type == 's' ? OF_SIGNED : OF_FLOAT;
    if (*type != 'f') return *type == 'u' || *type == 's';
    if (bits == 64) call->source = OF_DOUBLE;
    return bits >= 32;
}

/* Reads a key such as "fma.f64" or "cvt.f32.s64". False: the operation's result is not rounded, or
 * not to a float or double. */
static bool read_key(const char *key, struct soft_call *call)
{
    static const struct {
        const char *name;
        enum soft_operation operation;
        unsigned operands;
    } known[] = {{"add.", SOFT_ADD, 2}, {"sub.", SOFT_SUB, 2},    {"mul.", SOFT_MUL, 2},
                 {"fma.", SOFT_FMA, 3}, {"div.", SOFT_DIV, 2},    {"sqrt.", SOFT_SQRT, 1},
                 {"rcp.", SOFT_RCP, 1}, {"cvt.", SOFT_CONVERT, 1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t length = strlen(known[k].name);
        const char *to = key + length, *from = strchr(to, '.');
        if (strncmp(key, known[k].name, length) || strlen(to) < 3) continue;
        call->operation = known[k].operation;
        call->operands = known[k].operands;
        bool is_float = !strncmp(to, "f32", 3), is_double = !strncmp(to, "f64", 3);
        call->rules.is_double = is_double;
        return (is_float || is_double) && set_source(call, from ? from + 1 : to);
    }
    return false;
}

/* ---- in software: the other operations ------------------------------------------------------- */

enum { OPERANDS = 3 };

/* Which operands are of type f32? Of slct only the third one, which is compared. */
static unsigned operands_to_flush(const struct op *op)
{
    const char *type = op ? strrchr(op->key, '.') : NULL;
    if (!type || strcmp(type, ".f32")) return 0;
    return strncmp(op->key, "slct", 4) ? 7 : 4;
}

static bool is_register(const struct op *op, int operand)
{
    return (int)strlen(op->operands) > operand + 1 && op->operands[operand + 1] == '4';
}

/* The registers are flushed where they are and then get their values back, the last one first: two
 * operands may be one register. The result's register keeps the result. */
static void run_flushed(struct warp *w, const struct insn *i, uint32_t mask, const struct op *op)
{
    const slot slots[OPERANDS] = {i->a, i->b, i->c};
    uint32_t kept[OPERANDS][WARP];
    unsigned which = i->rules.flush ? operands_to_flush(op) : 0;
    for (int k = 0; k < OPERANDS; k++) {
        if (!(which >> k & 1) || !is_register(op, k)) which &= ~(1u << k);
        if (!(which >> k & 1)) continue;
        lane_32 *lanes = LANES(u32, slots[k]);
        memcpy(kept[k], lanes, sizeof kept[k]);
        for (int l = 0; l < WARP; l++)
            if (!(lanes[l] & 0x7f800000)) lanes[l] &= 0x80000000;
    }
    i->rules.inner(w, i, mask);
    for (int k = OPERANDS - 1; k >= 0; k--) {
        if (!(which >> k & 1)) continue;
        lane_32 *lanes = LANES(u32, slots[k]);
        for (int l = 0; l < WARP; l++)
            if (slots[k] != i->d || !(mask >> l & 1)) lanes[l] = kept[k][l];
    }
}

static void run_soft(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct op *op = op_of_function(i->rules.inner);
    struct soft_call call = {.rules = {.rounding = i->rules.rounding, .flush = i->rules.flush}};
    if (op && read_key(op->key, &call))
        run_soft_call(w, i, mask, &call);
    else
        run_flushed(w, i, mask, op);
}

void rounding_run(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->rules.rounding == FE_TONEAREST && !i->rules.flush)
        i->rules.inner(w, i, mask);
    else
        run_soft(w, i, mask);
}

#endif

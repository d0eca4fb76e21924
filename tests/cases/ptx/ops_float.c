/*
 * ops_float.c — operations on floats, halves and bfloat16: each with many operands, against C.
 */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- f16 and bf16 arithmetic, single and in pairs -------------------------------------------- */

/* The scalar type of a row, whose type may be a pair. */
static const struct type *scalar(const struct form *f)
{
    const struct type *half = packed_type(f->type->name);
    return half ? half : f->type;
}

typedef union value scalar_op(const struct form *, const struct type *, const union value in[3]);

/* Applies op to the scalar, or to each half of a pair. */
static bool each_half(const struct form *f, const union value in[], unsigned inputs,
                      union value out[], scalar_op *op)
{
    const struct type *t = scalar(f);
    for (unsigned shift = 0; shift < f->type->bits; shift += 16) {
        union value halves[3] = {{0}};
        for (unsigned i = 0; i < inputs; i++) {
            halves[i].u64 = in[i].u64 >> shift & 0xffff;
            if (f->ftz) halves[i] = flush(t, halves[i]);
        }
        out[0].u64 |= op(f, t, halves).u64 << shift;
    }
    return true;
}

static union value finish_half(const struct form *f, const struct type *t, union value v)
{
    if (f->ftz) v = flush(t, v);
    if (f->sat && (is_nan(t, v) || get_real(t, v) <= 0)) v.u64 = 0;
    if (f->sat && get_real(t, v) > 1) v = put_real(t, 1, 0, NEAREST);
    if (has(f, "relu") && get_real(t, v) < 0) v.u64 = 0;
    if (has(f, "relu") && !is_nan(t, v) && signbit(get_real(t, v))) v.u64 = 0;
    return v;
}

/* a + b rounded once: the sum in double plus its exact rounding error (Knuth's two-sum). */
static union value sum(const struct form *f, const struct type *t, double a, double b)
{
    double s = a + b, error = 0;
    if (isfinite(s)) {
        double a_part = s - b, b_part = s - a_part;
        error = (a - a_part) + (b - b_part);
    }
    return finish_half(f, t, put_real(t, s, error, NEAREST));
}

static double real(const struct type *t, union value v) { return (double)get_real(t, v); }

static union value half_extremum(const struct type *t, const union value in[3], bool want_less)
{
    bool nan_a = is_nan(t, in[0]), nan_b = is_nan(t, in[1]);
    if (nan_a && nan_b) return put_real(t, NAN, 0, NEAREST);
    if (nan_a || nan_b) return nan_a ? in[1] : in[0];
    double a = real(t, in[0]), b = real(t, in[1]);
    bool a_less = a < b || (a == b && signbit(a));
    return a_less == want_less ? in[0] : in[1];
}

/* NAME_each applies an expression of f, t and in to the scalar, or to each half of a pair. */
#define HALVES(name, inputs, expression)                                                           \
    static union value name##_scalar(UNUSED const struct form *f, const struct type *t,            \
                                     const union value in[3])                                      \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    REFERENCE(name##_each) { return each_half(f, in, inputs, out, name##_scalar); }

HALVES(add, 2, sum(f, t, real(t, in[0]), real(t, in[1])))
HALVES(sub, 2, sum(f, t, real(t, in[0]), -real(t, in[1])))
/* A product of two 11-bit numbers is exact in double; adding 0 would lose the sign of -0. */
HALVES(mul, 2, finish_half(f, t, put_real(t, real(t, in[0]) * real(t, in[1]), 0, NEAREST)))
HALVES(fma, 3, sum(f, t, real(t, in[0]) * real(t, in[1]), real(t, in[2])))
HALVES(neg, 1, negate(t, in[0]))
HALVES(abs, 1, signbit(get_real(t, in[0])) ? negate(t, in[0]) : in[0])
HALVES(min, 2, half_extremum(t, in, true))
HALVES(max, 2, half_extremum(t, in, false))

#define F16           "f16 f16x2"
#define BF16          "bf16 bf16x2"
#define F16_MODIFIERS "- .rn .ftz .sat .rn.ftz .rn.sat .rn.ftz.sat"

static const struct tried_op half[] = {
    OP("add$M.$T $0, $1, $2;", "t=tt", F16, NULL, F16_MODIFIERS, add_each),
    OP("sub$M.$T $0, $1, $2;", "t=tt", F16, NULL, F16_MODIFIERS, sub_each),
    OP("mul$M.$T $0, $1, $2;", "t=tt", F16, NULL, F16_MODIFIERS, mul_each),
    OP("fma$M.$T $0, $1, $2, $3;", "t=ttt", F16, NULL, ".rn .rn.ftz .rn.sat .rn.relu", fma_each),
    OP("neg$M.$T $0, $1;", "t=t", F16, NULL, "- .ftz", neg_each, .any_nan = true),
    OP("abs$M.$T $0, $1;", "t=t", F16, NULL, "- .ftz", abs_each, .any_nan = true),
    OP("min$M.$T $0, $1, $2;", "t=tt", F16, NULL, "- .ftz", min_each),
    OP("max$M.$T $0, $1, $2;", "t=tt", F16, NULL, "- .ftz", max_each),

    OP("add$M.$T $0, $1, $2;", "t=tt", BF16, NULL, "- .rn", add_each),
    OP("sub$M.$T $0, $1, $2;", "t=tt", BF16, NULL, "- .rn", sub_each),
    OP("mul$M.$T $0, $1, $2;", "t=tt", BF16, NULL, "- .rn", mul_each),
    OP("fma$M.$T $0, $1, $2, $3;", "t=ttt", BF16, NULL, ".rn .rn.relu", fma_each),
    OP("neg.$T $0, $1;", "t=t", BF16, NULL, NULL, neg_each, .any_nan = true),
    OP("abs.$T $0, $1;", "t=t", BF16, NULL, NULL, abs_each, .any_nan = true),
    OP("min$M.$T $0, $1, $2;", "t=tt", BF16, NULL, NULL, min_each),
    OP("max$M.$T $0, $1, $2;", "t=tt", BF16, NULL, NULL, max_each),
};

Test(emu_ops_half, arithmetic) { CHECK_OPS(half); }

/* ---- f32 and f64 arithmetic: IEEE to the bit, approximations within PTX's bounds ------------- */

#define ROUNDINGS ".rn .rz .rm .rp"
#define F32_MODIFIERS                                                                              \
    "- .ftz .sat .ftz.sat .rn .rz .rm .rp .rn.ftz .rz.ftz .rm.ftz .rp.ftz .rn.sat .rz.ftz.sat"
#define FMA_MODIFIERS                                                                              \
    ".rn .rz .rm .rp .rn.ftz .rz.ftz .rm.ftz .rp.ftz .rn.sat .rz.sat .rn.ftz.sat .rp.ftz.sat"
#define FTZ_ROUNDINGS ".rn .rz .rm .rp .rn.ftz .rz.ftz .rm.ftz .rp.ftz"

/*
 * IEEE results come from this machine's own floating-point unit, in the rounding mode asked for.
 * The operands and results are volatile, so that the compiler does not move the operation past a
 * change of the mode.
 */
static void set_rounding(enum rounding rounding)
{
    static const int modes[] = {
        [NEAREST] = FE_TONEAREST, [ZERO] = FE_TOWARDZERO, [DOWN] = FE_DOWNWARD, [UP] = FE_UPWARD};
    fesetround(modes[rounding]);
}

#define COMPUTE(type, result, expression)                                                          \
    do {                                                                                           \
        volatile type a = x, b = y, c = z, r;                                                      \
        (void)b, (void)c;                                                                          \
        set_rounding(f->rounding);                                                                 \
        r = expression;                                                                            \
        set_rounding(NEAREST);                                                                     \
        result = r;                                                                                \
    } while (0)

#define COMPUTES(type, root, fused)                                                                \
    static type compute_##type(const struct form *f, char op, type x, type y, type z)              \
    {                                                                                              \
        type result = NAN;                                                                         \
        switch (op) {                                                                              \
        case '+': COMPUTE(type, result, a + b); break;                                             \
        case '-': COMPUTE(type, result, a - b); break;                                             \
        case '*': COMPUTE(type, result, a *b); break;                                              \
        case '/': COMPUTE(type, result, a / b); break;                                             \
        case 'r': COMPUTE(type, result, root(a)); break;                                           \
        case 'f': COMPUTE(type, result, fused(a, b, c)); break;                                    \
        }                                                                                          \
        return result;                                                                             \
    }
COMPUTES(float, sqrtf, fmaf)
COMPUTES(double, sqrt, fma)

/* The last part of every f32 operation: .ftz on the result, .sat, and the canonical NaN. */
static union value finish(const struct form *f, union value v)
{
    if (is_nan(f->type, v)) return f->sat ? (union value){.u64 = 0} : put_real(f->type, NAN, 0, 0);
    if (f->ftz) v = flush(f->type, v);
    if (f->sat && get_real(f->type, v) <= 0) v.u64 = 0;
    if (f->sat && get_real(f->type, v) > 1) v = put_real(f->type, 1, 0, 0);
    return v;
}

static union value input(const struct form *f, union value v)
{
    return f->ftz ? flush(f->type, v) : v;
}

/* One IEEE operation. With .ftz a result that rounds to the smallest normal number is left open:
 * PTX does not say whether it is flushed before or after rounding. */
static bool ieee(const struct form *f, char op, union value a, union value b, union value c,
                 union value out[])
{
    a = input(f, a), b = input(f, b), c = input(f, c);
    union value result = {0};
    if (f->type->bits == 32)
        result.f32 = compute_float(f, op, a.f32, b.f32, c.f32);
    else
        result.f64 = compute_double(f, op, a.f64, b.f64, c.f64);
    if (f->ftz && fabsf(result.f32) == FLT_MIN) return false;
    out[0] = finish(f, result);
    return true;
}

REFERENCE(add) { return ieee(f, '+', in[0], in[1], in[1], out); }
REFERENCE(sub) { return ieee(f, '-', in[0], in[1], in[1], out); }
REFERENCE(mul) { return ieee(f, '*', in[0], in[1], in[1], out); }
REFERENCE(divide) { return ieee(f, '/', in[0], in[1], in[1], out); }
REFERENCE(fused) { return ieee(f, 'f', in[0], in[1], in[2], out); }
REFERENCE(root) { return ieee(f, 'r', in[0], in[0], in[0], out); }
REFERENCE(reciprocal) { return ieee(f, '/', put_real(f->type, 1, 0, NEAREST), in[0], in[0], out); }

static const struct tried_op arithmetic[] = {
    OP("add$M.$T $0, $1, $2;", "t=tt", "f32", NULL, F32_MODIFIERS, add),
    OP("sub$M.$T $0, $1, $2;", "t=tt", "f32", NULL, F32_MODIFIERS, sub),
    OP("mul$M.$T $0, $1, $2;", "t=tt", "f32", NULL, F32_MODIFIERS, mul),
    OP("fma$M.$T $0, $1, $2, $3;", "t=ttt", "f32", NULL, FMA_MODIFIERS, fused),
    OP("mad$M.$T $0, $1, $2, $3;", "t=ttt", "f32", NULL, FMA_MODIFIERS, fused),
    OP("div$M.$T $0, $1, $2;", "t=tt", "f32", NULL, FTZ_ROUNDINGS, divide),
    OP("rcp$M.$T $0, $1;", "t=t", "f32", NULL, FTZ_ROUNDINGS, reciprocal),
    OP("sqrt$M.$T $0, $1;", "t=t", "f32", NULL, FTZ_ROUNDINGS, root),
    OP("add$M.$T $0, $1, $2;", "t=tt", "f64", NULL, "- " ROUNDINGS, add),
    OP("sub$M.$T $0, $1, $2;", "t=tt", "f64", NULL, "- " ROUNDINGS, sub),
    OP("mul$M.$T $0, $1, $2;", "t=tt", "f64", NULL, "- " ROUNDINGS, mul),
    OP("fma$M.$T $0, $1, $2, $3;", "t=ttt", "f64", NULL, ROUNDINGS, fused),
    OP("mad$M.$T $0, $1, $2, $3;", "t=ttt", "f64", NULL, ROUNDINGS, fused),
    OP("div$M.$T $0, $1, $2;", "t=tt", "f64", NULL, ROUNDINGS, divide),
    OP("rcp$M.$T $0, $1;", "t=t", "f64", NULL, ROUNDINGS, reciprocal),
    OP("sqrt$M.$T $0, $1;", "t=t", "f64", NULL, ROUNDINGS, root),
};

Test(emu_ops_float, arithmetic) { CHECK_OPS(arithmetic); }

/* ---- signs, minimum, maximum ----------------------------------------------------------------- */

REFERENCE(absolute)
{
    union value v = input(f, in[0]);
    out[0] = signbit(get_real(f->type, v)) ? negate(f->type, v) : v;
    return true;
}

REFERENCE(neg)
{
    out[0] = negate(f->type, input(f, in[0]));
    return true;
}

/* The first operand's sign on the second's magnitude; NaNs are only bits here. */
REFERENCE(copysign_)
{
    uint64_t sign = UINT64_C(1) << (f->type->bits - 1);
    out[0].u64 = (in[0].u64 & sign) | (in[1].u64 & ~sign);
    return true;
}

/* -0 is below +0. Of a NaN and a number the result is the number, unless .NaN is given. */
static bool extremum(const struct form *f, const union value in[], union value out[],
                     bool want_less)
{
    union value a = input(f, in[0]), b = input(f, in[1]);
    bool nan_a = is_nan(f->type, a), nan_b = is_nan(f->type, b);
    long double x = get_real(f->type, a), y = get_real(f->type, b);
    if ((nan_a && nan_b) || (has(f, "NaN") && (nan_a || nan_b))) {
        out[0] = put_real(f->type, NAN, 0, NEAREST);
        return true;
    }
    bool a_less = x < y || (x == y && signbit(x));
    out[0] = nan_a ? b : nan_b ? a : a_less == want_less ? a : b;
    return true;
}

REFERENCE(smaller) { return extremum(f, in, out, true); }
REFERENCE(greater) { return extremum(f, in, out, false); }

REFERENCE(testp)
{
    long double x = get_real(f->type, in[0]);
    bool subnormal = is_subnormal(f->type, in[0]);
    out[0].u64 = has(f, "finite")       ? isfinite(x)
                 : has(f, "infinite")   ? isinf(x) != 0
                 : has(f, "number")     ? !isnan(x)
                 : has(f, "notanumber") ? isnan(x)
                 : has(f, "normal")     ? isfinite(x) && !subnormal /* zero counts as normal */
                                        : subnormal;
    return true;
}

#define MIN_MAX_MODIFIERS "- .ftz .NaN .ftz.NaN"
#define TESTS             ".finite .infinite .number .notanumber .normal .subnormal"

static const struct tried_op signs[] = {
    OP("abs$M.$T $0, $1;", "t=t", "f32", NULL, "- .ftz", absolute, .any_nan = true),
    OP("neg$M.$T $0, $1;", "t=t", "f32", NULL, "- .ftz", neg, .any_nan = true),
    OP("abs.$T $0, $1;", "t=t", "f64", NULL, NULL, absolute),
    OP("neg.$T $0, $1;", "t=t", "f64", NULL, NULL, neg),
    OP("min$M.$T $0, $1, $2;", "t=tt", "f32", NULL, MIN_MAX_MODIFIERS, smaller),
    OP("max$M.$T $0, $1, $2;", "t=tt", "f32", NULL, MIN_MAX_MODIFIERS, greater),
    OP("min.$T $0, $1, $2;", "t=tt", "f64", NULL, NULL, smaller),
    OP("max.$T $0, $1, $2;", "t=tt", "f64", NULL, NULL, greater),
    OP("copysign.$T $0, $1, $2;", "t=tt", "f32 f64", NULL, NULL, copysign_),
    OP("testp$M.$T $0, $1;", "p=t", "f32 f64", NULL, TESTS, testp),
};

Test(emu_ops_float, signs_minimum_maximum) { CHECK_OPS(signs); }

/* ---- approximations -------------------------------------------------------------------------- */

/* Beyond this, results depend on the hardware. The bounds below hold elsewhere. */
static bool give(const struct form *f, long double exact, union value out[])
{
    out[0] = finish(f, put_real(f->type, exact, 0, NEAREST));
    return true;
}

static long double real_input(const struct form *f, union value v)
{
    return get_real(f->type, input(f, v));
}

REFERENCE(rcp_approx) { return give(f, 1 / real_input(f, in[0]), out); }
REFERENCE(sqrt_approx) { return give(f, sqrtl(real_input(f, in[0])), out); }

/* div.approx multiplies by the reciprocal; it is specified where that is a normal number. */
REFERENCE(div_approx)
{
    long double a = real_input(f, in[0]), b = real_input(f, in[1]);
    long double size = fabsl(b);
    bool specified = isnan(b) || b == 0 || isinf(b) || (size >= 0x1p-126L && size <= 0x1p126L);
    if (!has(f, "full") && (!specified || isinf(a))) return false;
    long double quotient = a / b;
    if (quotient != 0 && fabsl(quotient) < 0x1p-126L) return false; /* may be flushed or not */
    return give(f, quotient, out);
}

/* The bound holds up to 2 pi. */
static bool is_within_a_turn(long double x) { return fabsl(x) <= 2 * 3.14159265L || !isfinite(x); }
#define TURNED(function)                                                                           \
    long double x = real_input(f, in[0]);                                                          \
    return is_within_a_turn(x) && give(f, function(x), out)
REFERENCE(sine) { TURNED(sinl); }
REFERENCE(cosine) { TURNED(cosl); }
REFERENCE(lg2) { return give(f, log2l(real_input(f, in[0])), out); }
REFERENCE(ex2) { return give(f, exp2l(real_input(f, in[0])), out); }
REFERENCE(tanh_) { return give(f, tanhl(real_input(f, in[0])), out); }

/* "Gross" approximations: of 20 bits of mantissa and with the lower word zero. */
static long double gross_input(const struct form *f, union value v)
{
    return get_real(f->type, flush(f->type, v));
}

static long double reciprocal_root(long double x)
{
    return x == 0 ? copysignl(INFINITY, x) : 1 / sqrtl(x);
}

REFERENCE(rsqrt_approx) { return give(f, reciprocal_root(real_input(f, in[0])), out); }
REFERENCE(rcp_gross) { return give(f, 1 / gross_input(f, in[0]), out); }
REFERENCE(rsqrt_gross) { return give(f, reciprocal_root(gross_input(f, in[0])), out); }

/* The bounds are those of the PTX ISA, section "Floating Point Instructions". */
static const struct tried_op approximations[] = {
    OP("rcp$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", rcp_approx,
       .within = {.ulps = 1}),
    OP("sqrt$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", sqrt_approx,
       .within = {.relative = 0x1p-23}),
    OP("rsqrt$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", rsqrt_approx,
       .within = {.relative = 0x1.12p-23}), /* 2^-22.9 */
    OP("rsqrt.approx.$T $0, $1;", "t=t", "f64", NULL, NULL, rsqrt_approx, .within = {.ulps = 4}),
    OP("div$M.$T $0, $1, $2;", "t=tt", "f32", NULL, ".approx .approx.ftz .full .full.ftz",
       div_approx, .within = {.ulps = 2}),
    OP("sin$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", sine,
       .within = {.absolute = 0x1.6ap-21}), /* 2^-20.5 */
    OP("cos$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", cosine,
       .within = {.absolute = 0x1.6ap-21}),
    OP("lg2$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", lg2,
       .within = {.absolute = 0x1p-22, .relative = 0x1p-22}),
    OP("ex2$M.$T $0, $1;", "t=t", "f32", NULL, ".approx .approx.ftz", ex2, .within = {.ulps = 2}),
    OP("tanh.approx.$T $0, $1;", "t=t", "f32", NULL, NULL, tanh_, .within = {.relative = 0x1p-11}),
    OP("rcp.approx.ftz.$T $0, $1;", "t=t", "f64", NULL, NULL, rcp_gross,
       .within = {.relative = 0x1p-19, .absolute = 0x1p-1022}),
    OP("rsqrt.approx.ftz.$T $0, $1;", "t=t", "f64", NULL, NULL, rsqrt_gross,
       .within = {.relative = 0x1p-19}),
};

Test(emu_ops_float, approximations) { CHECK_OPS(approximations); }

/* A product that is denormal before it is rounded, and the smallest normal number after it, is
 * flushed. PTX leaves this open, x86 decides so. The operands are not small. */
Test(emu_ops_float, products_that_round_up_to_a_normal_number)
{
    enum { LANES = 32 };
    struct emu *emu = open_emu();
    union value in[LANES][2], out[LANES];
    for (int n = 0; n < LANES; n++) {
        in[n][0] = (union value){.f32 = 0x1p-100f};
        in[n][1] = (union value){.f32 = n % 2 ? -0x1.fffffep-27f : 0x1p-20f};
    }
    cr_assert(!ptx_run(emu, "mul.ftz.f32 $0, $1, $2;", "f=ff", LANES, in[0], out), "%s",
              emu_message(emu));
    for (int n = 0; n < LANES; n++)
        cr_expect(out[n].u32 == (n % 2 ? 0x80000000 : 0x03800000), "lane %d: 0x%x", n, out[n].u32);
    emu_close(emu);
}

/* ops_half.c — f16 and bf16 arithmetic, single and in pairs. */
#include "ops.h"

#include <criterion/criterion.h>
#include <math.h>

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

static union value add_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return sum(f, t, real(t, in[0]), real(t, in[1]));
}

static union value sub_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return sum(f, t, real(t, in[0]), -real(t, in[1]));
}

/* A product of two 11-bit numbers is exact in double; adding 0 would lose the sign of -0. */
static union value mul_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return finish_half(f, t, put_real(t, real(t, in[0]) * real(t, in[1]), 0, NEAREST));
}

static union value fma_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return sum(f, t, real(t, in[0]) * real(t, in[1]), real(t, in[2]));
}

static union value neg_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    (void)f;
    return negate(t, in[0]);
}

static union value abs_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    (void)f;
    return signbit(get_real(t, in[0])) ? negate(t, in[0]) : in[0];
}

static union value half_extremum(const struct form *f, const struct type *t,
                                 const union value in[3], bool want_less)
{
    (void)f;
    bool nan_a = is_nan(t, in[0]), nan_b = is_nan(t, in[1]);
    if (nan_a && nan_b) return put_real(t, NAN, 0, NEAREST);
    if (nan_a || nan_b) return nan_a ? in[1] : in[0];
    double a = real(t, in[0]), b = real(t, in[1]);
    bool a_less = a < b || (a == b && signbit(a));
    return a_less == want_less ? in[0] : in[1];
}

static union value min_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return half_extremum(f, t, in, true);
}

static union value max_scalar(const struct form *f, const struct type *t, const union value in[3])
{
    return half_extremum(f, t, in, false);
}

#define HALVES(name, inputs)                                                                       \
    static bool name##_each(const struct form *f, const union value in[], union value out[])       \
    {                                                                                              \
        return each_half(f, in, inputs, out, name##_scalar);                                       \
    }

HALVES(add, 2)
HALVES(sub, 2)
HALVES(mul, 2)
HALVES(fma, 3)
HALVES(neg, 1)
HALVES(abs, 1)
HALVES(min, 2)
HALVES(max, 2)

#define F16           "f16 f16x2"
#define BF16          "bf16 bf16x2"
#define F16_MODIFIERS "- .rn .ftz .sat .rn.ftz .rn.sat .rn.ftz.sat"

static const struct op half[] = {
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

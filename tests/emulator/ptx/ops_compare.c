/* ops_compare.c — setp, set, selp, slct: comparisons and selections. */
#include "ops.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* The comparison is the form's first modifier: ".ltu.ftz.and". */
static bool is(const struct form *f, const char *comparison)
{
    size_t length = strlen(comparison);
    const char *s = f->modifiers + 1;
    return !strncmp(s, comparison, length) && (!s[length] || s[length] == '.');
}

static bool compare_real(const struct form *f, long double a, long double b)
{
    bool unordered = isnan(a) || isnan(b);
    if (is(f, "num")) return !unordered;
    if (is(f, "nan")) return unordered;
    if (is(f, "eq")) return a == b;
    if (is(f, "ne")) return !unordered && a != b;
    if (is(f, "lt")) return a < b;
    if (is(f, "le")) return a <= b;
    if (is(f, "gt")) return a > b;
    if (is(f, "ge")) return a >= b;
    if (is(f, "equ")) return unordered || a == b;
    if (is(f, "neu")) return unordered || a != b;
    if (is(f, "ltu")) return unordered || a < b;
    if (is(f, "leu")) return unordered || a <= b;
    if (is(f, "gtu")) return unordered || a > b;
    if (is(f, "geu")) return unordered || a >= b;
    cr_assert_fail("no comparison in '%s'", f->modifiers);
    return false;
}

/* lo, ls, hi and hs are lt, le, gt and ge of unsigned numbers. */
static bool compare_integer(const struct form *f, __int128 a, __int128 b)
{
    if (is(f, "eq")) return a == b;
    if (is(f, "ne")) return a != b;
    if (is(f, "lt") || is(f, "lo")) return a < b;
    if (is(f, "le") || is(f, "ls")) return a <= b;
    if (is(f, "gt") || is(f, "hi")) return a > b;
    if (is(f, "ge") || is(f, "hs")) return a >= b;
    cr_assert_fail("no comparison in '%s'", f->modifiers);
    return false;
}

/* Compares two values of the type $S. */
static bool compare(const struct form *f, union value a, union value b)
{
    if (f->from->kind != FLOAT)
        return compare_integer(f, (__int128)get_integer(f->from, a),
                               (__int128)get_integer(f->from, b));
    if (f->ftz) a = flush(f->from, a), b = flush(f->from, b);
    return compare_real(f, get_real(f->from, a), get_real(f->from, b));
}

static bool combined(const struct form *f, bool comparison, bool c)
{
    return has(f, "and")   ? comparison && c
           : has(f, "or")  ? comparison || c
           : has(f, "xor") ? comparison != c
                           : comparison;
}

static bool setp(const struct form *f, const union value in[], union value out[])
{
    out[0].u64 = compare(f, in[0], in[1]);
    return true;
}

static bool setp_both(const struct form *f, const union value in[], union value out[])
{
    bool comparison = compare(f, in[0], in[1]);
    out[0].u64 = comparison;
    out[1].u64 = !comparison;
    return true;
}

static bool setp_combined(const struct form *f, const union value in[], union value out[])
{
    bool comparison = compare(f, in[0], in[1]);
    out[0].u64 = combined(f, comparison, in[2].u64);
    out[1].u64 = combined(f, !comparison, in[2].u64);
    return true;
}

static bool setp_combined_inverted(const struct form *f, const union value in[], union value out[])
{
    out[0].u64 = combined(f, compare(f, in[0], in[1]), !in[2].u64);
    return true;
}

/* set gives all ones, or 1.0 if its own type is a floating-point one. */
static bool set_to(const struct form *f, bool result, union value out[])
{
    const struct type *t = f->type, *half = packed_type(t->name);
    if (half) t = half;
    if (result) out[0] = t->kind == FLOAT ? put_real(t, 1, 0, NEAREST) : put_integer(t, (wide)-1);
    return true;
}

static bool set(const struct form *f, const union value in[], union value out[])
{
    return set_to(f, compare(f, in[0], in[1]), out);
}

static bool set_combined(const struct form *f, const union value in[], union value out[])
{
    return set_to(f, combined(f, compare(f, in[0], in[1]), in[2].u64), out);
}

#define SIGNED_COMPARISONS   ".eq .ne .lt .le .gt .ge"
#define UNSIGNED_COMPARISONS SIGNED_COMPARISONS " .lo .ls .hi .hs"
#define REAL_COMPARISONS     SIGNED_COMPARISONS " .equ .neu .ltu .leu .gtu .geu .num .nan"
#define FTZ_COMPARISONS                                                                            \
    ".eq.ftz .ne.ftz .lt.ftz .le.ftz .gt.ftz .ge.ftz .equ.ftz .neu.ftz .ltu.ftz .leu.ftz "         \
    ".gtu.ftz .geu.ftz .num.ftz .nan.ftz"
#define COMBINED ".lt.and .lt.or .lt.xor .ne.and .ne.or .ne.xor"

/* Here $T is a dummy and $S the type compared: the row's result is a predicate. */
static const struct op setps[] = {
    OP("setp$M.$S $0, $1, $2;", "p=ss", "b32", "u16 u32 u64", UNSIGNED_COMPARISONS, setp),
    OP("setp$M.$S $0, $1, $2;", "p=ss", "b32", "s16 s32 s64", SIGNED_COMPARISONS, setp),
    OP("setp$M.$S $0, $1, $2;", "p=ss", "b32", "b16 b32 b64", ".eq .ne", setp),
    OP("setp$M.$S $0, $1, $2;", "p=ss", "b32", "f32 f64 f16 bf16", REAL_COMPARISONS, setp),
    OP("setp$M.$S $0, $1, $2;", "p=ss", "b32", "f32 f16", FTZ_COMPARISONS, setp),
    OP("setp$M.$S $0|$1, $2, $3;", "pp=ss", "b32", "s32 u64 s16", SIGNED_COMPARISONS, setp_both),
    OP("setp$M.$S $0|$1, $2, $3;", "pp=ss", "b32", "f32 f64", REAL_COMPARISONS, setp_both),
    OP("setp$M.$S $0|$1, $2, $3, $4;", "pp=ssp", "b32", "s32 u32 s64 u16 f32 f64", COMBINED,
       setp_combined),
    OP("setp$M.$S $0, $1, $2, !$3;", "p=ssp", "b32", "s32 f32", COMBINED, setp_combined_inverted),
};

static const struct op sets[] = {
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "u32 s32 f32", "u16 u32 u64", UNSIGNED_COMPARISONS, set),
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "u32 s32 f32", "s16 s32 s64", SIGNED_COMPARISONS, set),
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "u32 f32", "f32 f64", REAL_COMPARISONS, set),
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "u32 f32", "f32", FTZ_COMPARISONS, set),
    OP("set$M.$T.$S $0, $1, $2, $3;", "t=ssp", "u32 f32", "s32 f32 f64", COMBINED, set_combined),
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "f16 u16 s16 u32 s32", "f16", REAL_COMPARISONS, set),
    OP("set$M.$T.$S $0, $1, $2;", "t=ss", "bf16 u16 u32", "bf16", REAL_COMPARISONS, set),
};

Test(emu_ops_compare, setp) { CHECK_OPS(setps); }
Test(emu_ops_compare, set) { CHECK_OPS(sets); }

static bool selp(const struct form *f, const union value in[], union value out[])
{
    (void)f;
    out[0] = in[2].u64 ? in[0] : in[1];
    return true;
}

static bool slct(const struct form *f, const union value in[], union value out[])
{
    union value c = f->ftz ? flush(f->from, in[2]) : in[2];
    bool first = f->from->kind == FLOAT ? get_real(f->from, c) >= 0 /* false for NaN */
                                        : (__int128)get_integer(f->from, c) >= 0;
    out[0] = first ? in[0] : in[1];
    return true;
}

#define SELECTED "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"

static const struct op selections[] = {
    OP("selp.$T $0, $1, $2, $3;", "t=ttp", SELECTED, NULL, NULL, selp),
    OP("selp.$T $0, $2, $1, !$3;", "t=ttp", SELECTED, NULL, NULL, selp),
    OP("slct.$T.$S $0, $1, $2, $3;", "t=tts", SELECTED, "s32 f32", NULL, slct),
    OP("slct$M.$T.$S $0, $1, $2, $3;", "t=tts", "b32 f64", "f32", ".ftz", slct),
};

Test(emu_ops_compare, selections) { CHECK_OPS(selections); }

/* A guard with an inverted predicate, and predicate arithmetic, on both values. */
static bool guarded(const struct form *f, const union value in[], union value out[])
{
    (void)f;
    out[0] = in[2].u64 ? in[0] : in[1];
    return true;
}

static const struct op guards[] = {
    OP("mov.b32 $0, $1;\n@!$3 mov.b32 $0, $2;", "r=rrp", "b32", NULL, NULL, guarded),
    OP("mov.b32 $0, $2;\n@$3 mov.b32 $0, $1;", "r=rrp", "b32", NULL, NULL, guarded),
};

Test(emu_ops_compare, guards) { CHECK_OPS(guards); }

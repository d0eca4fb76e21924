/*
 * ops_convert.c — comparisons and conversions of all types; rare operations.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* ---- setp, set, selp, slct: comparisons and selections --------------------------------------- */

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

REFERENCE(setp)
{
    out[0].u64 = compare(f, in[0], in[1]);
    return true;
}

REFERENCE(setp_both)
{
    bool comparison = compare(f, in[0], in[1]);
    out[0].u64 = comparison;
    out[1].u64 = !comparison;
    return true;
}

REFERENCE(setp_combined)
{
    bool comparison = compare(f, in[0], in[1]);
    out[0].u64 = combined(f, comparison, in[2].u64);
    out[1].u64 = combined(f, !comparison, in[2].u64);
    return true;
}

REFERENCE(setp_combined_inverted)
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

REFERENCE(set) { return set_to(f, compare(f, in[0], in[1]), out); }
REFERENCE(set_combined) { return set_to(f, combined(f, compare(f, in[0], in[1]), in[2].u64), out); }

#define SIGNED_COMPARISONS   ".eq .ne .lt .le .gt .ge"
#define UNSIGNED_COMPARISONS SIGNED_COMPARISONS " .lo .ls .hi .hs"
#define REAL_COMPARISONS     SIGNED_COMPARISONS " .equ .neu .ltu .leu .gtu .geu .num .nan"
#define FTZ_COMPARISONS                                                                            \
    ".eq.ftz .ne.ftz .lt.ftz .le.ftz .gt.ftz .ge.ftz .equ.ftz .neu.ftz .ltu.ftz .leu.ftz "         \
    ".gtu.ftz .geu.ftz .num.ftz .nan.ftz"
#define COMBINED ".lt.and .lt.or .lt.xor .ne.and .ne.or .ne.xor"

/* Here $T is a dummy and $S the type compared: the row's result is a predicate. */
static const struct tried_op setps[] = {
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

static const struct tried_op sets[] = {
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

REFERENCE(selp)
{
    out[0] = in[2].u64 ? in[0] : in[1];
    return true;
}

REFERENCE(slct)
{
    union value c = f->ftz ? flush(f->from, in[2]) : in[2];
    bool first = f->from->kind == FLOAT ? get_real(f->from, c) >= 0 /* false for NaN */
                                        : (__int128)get_integer(f->from, c) >= 0;
    out[0] = first ? in[0] : in[1];
    return true;
}

#define SELECTED "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"

static const struct tried_op selections[] = {
    OP("selp.$T $0, $1, $2, $3;", "t=ttp", SELECTED, NULL, NULL, selp),
    OP("selp.$T $0, $2, $1, !$3;", "t=ttp", SELECTED, NULL, NULL, selp),
    OP("slct.$T.$S $0, $1, $2, $3;", "t=tts", SELECTED, "s32 f32", NULL, slct),
    OP("slct$M.$T.$S $0, $1, $2, $3;", "t=tts", "b32 f64", "f32", ".ftz", slct),
};

Test(emu_ops_compare, selections) { CHECK_OPS(selections); }

/* A guard with an inverted predicate, and predicate arithmetic, on both values. */
REFERENCE(guarded)
{
    out[0] = in[2].u64 ? in[0] : in[1];
    return true;
}

static const struct tried_op guards[] = {
    OP("mov.b32 $0, $1;\n@!$3 mov.b32 $0, $2;", "r=rrp", "b32", NULL, NULL, guarded),
    OP("mov.b32 $0, $2;\n@$3 mov.b32 $0, $1;", "r=rrp", "b32", NULL, NULL, guarded),
};

Test(emu_ops_compare, guards) { CHECK_OPS(guards); }

/* ---- cvt between all number types, and mov with its packing and unpacking -------------------- */

/* An integer result fills its register: sign-extended if its type is signed. (check_ops cuts it to
 * the register's width.) */
static bool put(const struct form *f, union value out[], wide n)
{
    out[0].u64 = (uint64_t)get_integer(f->type, put_integer(f->type, n));
    return true;
}

REFERENCE(integer_to_integer)
{
    __int128 n = (__int128)get_integer(f->from, in[0]);
    if (f->sat && n < least(f->type)) n = least(f->type);
    if (f->sat && n > greatest(f->type)) n = greatest(f->type);
    return put(f, out, (wide)n);
}

static long double round_to_integer(const struct form *f, long double x)
{
    long double rounded = f->rounding == NEAREST ? rintl(x)
                          : f->rounding == ZERO  ? truncl(x)
                          : f->rounding == DOWN  ? floorl(x)
                                                 : ceill(x);
    return copysignl(rounded, x);
}

static union value input(const struct form *f, union value v)
{
    return f->ftz && f->from->kind == FLOAT && f->from->bits == 32 ? flush(f->from, v) : v;
}

/* Clamps to the integer's range. A NaN gives 0, or the top bit alone where a 64-bit type takes part
 * (PTX ISA, cvt, "Integer Notes"); f64 to the narrow types has not been measured on hardware. */
REFERENCE(real_to_integer)
{
    long double x = get_real(f->from, input(f, in[0]));
    if (isnan(x)) {
        if (f->from->bits < 64 && f->type->bits < 64) return put(f, out, 0);
        return f->type->bits >= 32 && put(f, out, (wide)1 << (f->type->bits - 1));
    }
    x = round_to_integer(f, x);
    __int128 low = least(f->type), high = greatest(f->type);
    return put(f, out,
               (wide)(x <= (long double)low    ? low
                      : x >= (long double)high ? high
                                               : (__int128)x));
}

static union value finish(const struct form *f, union value v)
{
    bool negative = signbit(get_real(f->type, v)), nan = is_nan(f->type, v);
    if (f->ftz && f->type->bits == 32) v = flush(f->type, v);
    if (f->sat && (nan || negative)) v.u64 = 0;
    if (f->sat && get_real(f->type, v) > 1) v = put_real(f->type, 1, 0, NEAREST);
    if (has(f, "relu") && negative && !nan) v.u64 = 0;
    return v;
}

REFERENCE(to_real)
{
    long double x = get_real(f->from, input(f, in[0]));
    bool integral = has(f, "rni") || has(f, "rzi") || has(f, "rmi") || has(f, "rpi");
    if (integral && isfinite(x)) x = round_to_integer(f, x);
    out[0] = finish(f, put_real(f->type, x, 0, f->rounding));
    return true;
}

#define INTEGERS       "u8 u16 u32 u64 s8 s16 s32 s64"
#define WIDE_INTEGERS  "u16 u32 u64 s16 s32 s64"
#define TO_INTEGER     ".rni .rzi .rmi .rpi"
#define TO_INTEGER_FTZ TO_INTEGER " .rni.ftz .rzi.ftz .rmi.ftz .rpi.ftz"
#define TO_REAL        ".rn .rz .rm .rp"

static const struct tried_op integers[] = {
    OP("cvt.$T.$S $0, $1;", "t=s", WIDE_INTEGERS, WIDE_INTEGERS, NULL, integer_to_integer),
    OP("cvt.$T.$S $0, $1;", "t=s", "u8 s8", WIDE_INTEGERS, NULL, integer_to_integer),
    OP("cvt.$T.$S $0, $1;", "t=h", INTEGERS, "u8 s8", NULL, integer_to_integer),
    OP("cvt.$T.$S $0, $1;", "t=r", "u64 s64 u32", "u8 s8 u16 s16", NULL, integer_to_integer),
    OP("cvt.$T.$S $0, $1;", "r=s", "u8 s8 u16 s16", "u32 s32 u64", NULL, integer_to_integer),
    OP("cvt.$T.$S $0, $1;", "l=s", "u8 s8 u16 s16 u32 s32", "u64 s32", NULL, integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "u8 s8", WIDE_INTEGERS, ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "u16", "u32 u64 s16 s32 s64", ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "s16", "u16 u32 u64 s32 s64", ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "u32", "u64 s16 s32 s64", ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "s32", "u32 u64 s64", ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "u64", "s16 s32 s64", ".sat", integer_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "s64", "u64", ".sat", integer_to_integer),
};

static const struct tried_op to_integers[] = {
    OP("cvt$M.$T.$S $0, $1;", "t=s", INTEGERS, "f32", TO_INTEGER_FTZ, real_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", INTEGERS, "f64 f16", TO_INTEGER, real_to_integer),
    OP("cvt$M.$T.$S $0, $1;", "t=s", WIDE_INTEGERS, "bf16", TO_INTEGER, real_to_integer),
};

static const struct tried_op to_reals[] = {
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32 f64 f16", WIDE_INTEGERS, TO_REAL, to_real),
    OP("cvt$M.$T.$S $0, $1;", "t=h", "f32 f64 f16", "u8 s8", TO_REAL, to_real),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "bf16", WIDE_INTEGERS, ".rn", to_real),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32", "s32 u64", ".rn.sat .rn.ftz", to_real),
};

static const struct tried_op between_reals[] = {
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32", "f64",
       ".rn .rz .rm .rp .rn.ftz .rz.ftz .rn.sat .rp.ftz.sat", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f16", "f32 f64", TO_REAL, to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f16", "f32", ".rn.ftz .rn.sat .rn.relu .rz.relu", to_real,
       .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "bf16", "f32", ".rn .rz .rn.relu", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f64", "f32", "- .ftz .sat", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32", "f16", "- .ftz .sat", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32", "bf16", "-", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f64", "f16 bf16", "-", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f32", "f32",
       TO_INTEGER_FTZ " .ftz .sat .ftz.sat .rzi.sat .rni.ftz.sat", to_real, .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f64", "f64", TO_INTEGER " .sat .rmi.sat", to_real,
       .any_nan = true),
    OP("cvt$M.$T.$S $0, $1;", "t=s", "f16", "f16", TO_INTEGER " .sat", to_real, .any_nan = true),
};

Test(emu_ops_convert, integers) { CHECK_OPS(integers); }
Test(emu_ops_convert, reals_to_integers) { CHECK_OPS(to_integers); }
Test(emu_ops_convert, integers_to_reals) { CHECK_OPS(to_reals); }
Test(emu_ops_convert, between_reals) { CHECK_OPS(between_reals); }

/* Two f32 into one register, the first in the upper half. */
REFERENCE(two_halves)
{
    const struct type *half = packed_type(f->type->name), *f32 = find_type("f32");
    struct form one = *f;
    one.type = half;
    for (int i = 0; i < 2; i++) {
        union value v = finish(&one, put_real(half, get_real(f32, in[i]), 0, f->rounding));
        out[0].u64 |= v.u64 << (i == 0 ? 16 : 0);
    }
    return true;
}

static const struct tried_op to_pairs[] = {
    OP("cvt$M.$T.f32 $0, $1, $2;", "t=ff", "f16x2 bf16x2", NULL, ".rn .rz .rn.relu .rz.relu",
       two_halves, .any_nan = true),
};

Test(emu_ops_convert, pairs) { CHECK_OPS(to_pairs); }

/* ---- mov ------------------------------------------------------------------------------------- */

REFERENCE(copy)
{
    out[0] = in[0];
    return true;
}

/* A vector's first element is the least significant part. */
REFERENCE(pack)
{
    unsigned parts = f->modifiers[1] == '4' ? 4 : 2, bits = f->type->bits / parts;
    for (unsigned i = 0; i < parts; i++) out[0].u64 |= in[i].u64 << bits * i;
    return true;
}

REFERENCE(unpack)
{
    unsigned parts = f->modifiers[1] == '4' ? 4 : 2, bits = f->type->bits / parts;
    for (unsigned i = 0; i < parts; i++) out[i].u64 = in[0].u64 >> bits * i; /* cut by check_ops */
    return true;
}

REFERENCE(unpack_high)
{
    out[0].u64 = in[0].u64 >> f->type->bits / 2;
    return true;
}

/* The modifiers of the vector rows stand in a comment of the PTX: they only pass the shape to the
 * reference. */
static const struct tried_op moves[] = {
    OP("mov.$T $0, $1;", "t=t", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 pred", NULL, NULL,
       copy),
    OP("mov.b32 $0, $1;", "r=f", "b32", NULL, NULL, copy),
    OP("mov.b64 $0, $1;", "d=l", "b64", NULL, NULL, copy),
    OP("mov.$T $0, {$1, $2}; // $M", "t=hh", "b32", NULL, ".2", pack),
    OP("mov.$T $0, {$1, $2}; // $M", "t=rr", "b64", NULL, ".2", pack),
    OP("mov.$T $0, {$1, $2}; // $M", "d=rr", "b64", NULL, ".2", pack),
    OP("mov.$T $0, {$1, $2, $3, $4}; // $M", "t=hhhh", "b64", NULL, ".4", pack),
    OP("mov.$T {$0, $1}, $2; // $M", "hh=t", "b32", NULL, ".2", unpack),
    OP("mov.$T {$0, $1}, $2; // $M", "rr=t", "b64", NULL, ".2", unpack),
    OP("mov.$T {$0, $1}, $2; // $M", "rr=d", "b64", NULL, ".2", unpack),
    OP("mov.$T {$0, $1, $2, $3}, $4; // $M", "hhhh=t", "b64", NULL, ".4", unpack),
    OP("mov.$T {_, $0}, $1;", "r=t", "b64", NULL, NULL, unpack_high),
    OP("mov.$T {_, $0}, $1;", "h=t", "b32", NULL, NULL, unpack_high),
};

Test(emu_ops_convert, moves) { CHECK_OPS(moves); }

/* ---- constants ------------------------------------------------------------------------------- */

/* Every way in which PTX writes a constant. */
Test(emu_ops_convert, constants)
{
    static const struct {
        const char *text, *operands;
        uint64_t want;
    } constants[] = {
        {"mov.u32 $0, 42;", "r=", 42},
        {"mov.u32 $0, 0x2A;", "r=", 42},
        {"mov.u32 $0, 052;", "r=", 42},
        {"mov.u32 $0, 0b101010;", "r=", 42},
        {"mov.u32 $0, 42U;", "r=", 42},
        {"mov.s32 $0, -42;", "r=", 0xffffffd6},
        {"mov.u32 $0, 4294967295;", "r=", 0xffffffff},
        {"mov.u64 $0, 0xffffffffffffffff;", "l=", UINT64_MAX},
        {"mov.s64 $0, -9223372036854775808;", "l=", UINT64_C(1) << 63},
        {"mov.b64 $0, -1;", "l=", UINT64_MAX},
        {"mov.u16 $0, 65535;", "h=", 0xffff},
        {"mov.b16 $0, -1;", "h=", 0xffff},
        {"mov.f32 $0, 0f3F800000;", "f=", 0x3f800000},
        {"mov.f32 $0, 0F7fffffff;", "f=", 0x7fffffff},
        {"mov.f32 $0, 1.5;", "f=", 0x3fc00000},
        {"mov.f32 $0, -2.5e-1;", "f=", 0xbe800000},
        {"mov.f64 $0, 0d3FF8000000000000;", "d=", 0x3ff8000000000000},
        {"mov.f64 $0, 1e3;", "d=", 0x408f400000000000},
        {"mov.u32 $0, WARP_SZ;", "r=", 32},
        {"add.s32 $0, 7, -9;", "r=", 0xfffffffe},
        {"add.f32 $0, 0f3F800000, 0f3F800000;", "f=", 0x40000000},
        {"cvt.rn.f32.s32 $0, -3;", "f=", 0xc0400000},
        {"shl.b64 $0, 1, 63;", "l=", UINT64_C(1) << 63},
    };
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        union value out = {0};
        int e = ptx_run(emu, constants[i].text, constants[i].operands, 1, NULL, &out);
        cr_expect(!e, "%s: %s", constants[i].text, emu_message(emu));
        cr_expect(e || out.u64 == constants[i].want, "%s: got 0x%llx, want 0x%llx",
                  constants[i].text, (unsigned long long)out.u64,
                  (unsigned long long)constants[i].want);
    }
    emu_close(emu);
}

/* ---- instructions that few programs use ------------------------------------------------------ */

/*
 * Instructions that few programs use, each on a few values whose results are known:
 * min and max of special kinds, 8-bit floats, tf32, video instructions, 128 bits.
 */

#define F(bits) 0x##bits##u

static const struct {
    const char *text, *operands;
    uint64_t in[3], want;
} rows[] = {
    /* 16-bit floats: 1 is 3c00 and 3f80, 2 is 4000 and 4000, NaN 7fff */
    {"min.NaN.f16 $0, $1, $2;", "h=hh", {0x3c00, 0x4000}, 0x3c00},
    {"min.NaN.f16 $0, $1, $2;", "h=hh", {0x3c00, 0x7e00}, 0x7fff},
    {"max.NaN.bf16x2 $0, $1, $2;", "r=rr", {0x3f804000, 0x4000ffff}, 0x40007fff},
    {"max.NaN.f16x2 $0, $1, $2;", "r=rr", {0xbc00c000, 0x8000bc00}, 0x8000bc00},
    {"min.xorsign.abs.bf16 $0, $1, $2;", "h=hh", {0xbf80, 0x4000}, 0xbf80},
    {"max.xorsign.abs.f16x2 $0, $1, $2;", "r=rr", {0xbc003c00, 0xc0004000}, 0x40004000},
    {"ex2.approx.f16 $0, $1;", "h=h", {0x3c00}, 0x4000},
    {"ex2.approx.ftz.bf16x2 $0, $1;", "r=r", {0x3f800000}, 0x40003f80},
    {"tanh.approx.f16x2 $0, $1;", "r=r", {0x00007c00}, 0x00003c00},
    {"tanh.approx.bf16 $0, $1;", "h=h", {0xff80}, 0xbf80},
    {"set.lt.f16x2.f16x2 $0, $1, $2;", "r=rr", {0x3c004000, 0x40003c00}, 0x3c000000},
    {"set.ge.bf16x2.bf16x2 $0, $1, $2;", "r=rr", {0x3f804000, 0x3f804040}, 0x3f800000},
    {"set.eq.u32.f16x2 $0, $1, $2;", "r=rr", {0x3c004000, 0x3c004001}, 0xffff0000},
    {"set.neu.u32.bf16x2 $0, $1, $2;", "r=rr", {0x7fff4000, 0x7fff4000}, 0xffff0000},
    {"{.reg .pred p, q; setp.gt.f16x2 p|q, $1, $2; selp.u32 $0, 1, 0, p; @q add.u32 $0, $0, 2;}",
     "r=rr",
     {0x40003c00, 0x3c004000},
     2},

    {"cvt.rni.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4000}, /* 2.5 to 2 */
    {"cvt.rpi.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4040},
    {"cvt.rmi.bf16.bf16 $0, $1;", "h=h", {0xc020}, 0xc040},
    /* floats */
    {"min.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(40000000)}, F(bf800000)},
    {"max.ftz.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(c0000000)}, F(40000000)},
    {"max.NaN.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(7fc00000)}, F(7fffffff)},
    {NEWER "min.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(bf800000), F(7fc00000)},
     F(bf800000)},

    {NEWER "max.NaN.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(bf800000), F(7fc00000)},
     F(7fffffff)},

    {NEWER "max.abs.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(c0400000), F(3f800000)},
     F(40400000)},

    /* integers */
    {"max.relu.s32 $0, $1, $2;", "r=rr", {(uint32_t)-7, (uint32_t)-3}, 0},
    {"min.relu.s32 $0, $1, $2;", "r=rr", {9, 4}, 4},
    {"max.relu.s16x2 $0, $1, $2;", "r=rr", {0xffff0005, 0xfffe0003}, 0x00000005},
    {"szext.clamp.s32 $0, $1, $2;", "r=rr", {0x1234f8ff, 12}, 0xfffff8ff},
    {"szext.clamp.s32 $0, $1, $2;", "r=rr", {0x1234f8ff, 40}, 0x1234f8ff},
    {"szext.wrap.u32 $0, $1, $2;", "r=rr", {0x1234f8ff, 36}, 0xf},
    {"vabsdiff4.u32.u32.u32 $0, $1, $2, $3;", "r=rrr", {0x01ff1020, 0x02000f21, 0}, 0x01ff0101},
    {"vabsdiff4.u32.s32.s32 $0, $1, $2, $3;", "r=rrr", {0x01ff1080, 0x02010f7f, 0}, 0x010201ff},
    {"vabsdiff4.u32.u32.u32.add $0, $1, $2, $3;", "r=rrr", {0x01ff1020, 0x02000f21, 7}, 265},
    {"vabsdiff2.u32.u32.u32.add $0, $1, $2, $3;", "r=rrr", {0x00010005, 0x00040001, 1}, 8},
    {"{.reg .pred p; setp.eq.u32 p, $1, 9; lop3.or.b32 $0|p, $1, $2, 0, 0xc0, p; @p add.u32 $0, "
     "$0, "
     "64;}",
     "r=rr",
     {6, 3},
     2 + 64},

    {"{.reg .pred p; setp.eq.u32 p, $1, 6; lop3.and.b32 _|p, $1, $2, 0, 0xc0, !p; selp.u32 $0, 1, "
     "0, "
     "p;}",
     "r=rr",
     {6, 3},
     0},

    /* bytes */
    {"{.reg .b8 a, b; mov.b16 {a, b}, $1; mov.b16 $0, {b, a};}", "h=h", {0x1234}, 0x3412},
    /* tf32: halves away from zero, to even, cut off */
    {"cvt.rna.tf32.f32 $0, $1;", "r=r", {F(3f801000)}, F(3f802000)},
    {"cvt.rn.tf32.f32 $0, $1;", "r=r", {F(3f801000)}, F(3f800000)},
    {"cvt.rn.relu.tf32.f32 $0, $1;", "r=r", {F(bf801000)}, 0},
    {"cvt.rz.tf32.f32 $0, $1;", "r=r", {F(bf801fff)}, F(bf800000)},
    {"cvt.rna.tf32.f32 $0, $1;", "r=r", {F(ff800000)}, F(ff800000)},
    /* 8-bit floats: the first is the high one. e4m3: 1 is 38, the largest 7e, the smallest 2^-9 */
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3f800000), F(c3e00000)}, 0x38fe},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(7f800000), F(7fc00000)}, 0x7e7f},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3b000000), F(3a800000)}, 0x0100},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3f880000), F(3f980000)}, 0x383a},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(bf800000), F(3f800000)}, 0x0038},
    {"cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "h=rr", {F(3f800000), F(48000000)}, 0x3c7b},
    {"cvt.rn.satfinite.e5m2x2.f16x2 $0, $1;", "h=r", {0xbc007c00}, 0xbc7b},
    {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r=h", {0x38fe}, 0x3c00df00},
    {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r=h", {0x017f}, 0x18007fff},
    {"cvt.rn.f16x2.e5m2x2 $0, $1;", "r=h", {0x3c7b}, 0x3c007b00},
    {"cvt.rn.relu.f16x2.e5m2x2 $0, $1;", "r=h", {0xbc3c}, 0x00003c00},
    /* 128 bits */
    {"{.reg .b128 q, s; mov.b128 q, {$1, $2}; mov.b128 s, q; mov.b128 {_, $0}, s;}",
     "l=ll",
     {11, 22},
     22},

    {"{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; mov.u64 $0, 3;}",
     "l=",
     {0},
     3},
};

Test(emu_ops_rare, give_known_results)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        union value in[3], out = {0};
        for (int k = 0; k < 3; k++) in[k].u64 = rows[i].in[k];
        int e = ptx_run(emu, rows[i].text, rows[i].operands, 1, in, &out);
        cr_expect(!e && out.u64 == rows[i].want, "%s: error %d, got 0x%llx, want 0x%llx %s",
                  rows[i].text, e, (unsigned long long)out.u64, (unsigned long long)rows[i].want,
                  e ? emu_message(emu) : "");
    }
    emu_close(emu);
}

/* ---- approximations -------------------------------------------------------------------------- */

/* All are the exact result, rounded, as the C library has it; also far beyond the range for which
 * PTX bounds the error, and where a warp has both. */
Test(emu_ops_rare, approximations_are_exact)
{
    static const struct {
        const char *text;
        double (*want)(double);
    } functions[] = {{"ex2.approx.f32 $0, $1;", exp2},
                     {"lg2.approx.f32 $0, $1;", log2},
                     {"sin.approx.f32 $0, $1;", sin},
                     {"cos.approx.f32 $0, $1;", cos},
                     {"tanh.approx.f32 $0, $1;", tanh}};
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0x49800000, 0x49800001, 0x7f7fffff,
                                     0x3f800000, 0xbf800000, 0xc3160000, 0x43000000, 0x42fe0000};
    enum { COUNT = 1 << 13, EDGES = sizeof edges / sizeof *edges };
    static union value in[COUNT], out[COUNT];
    struct emu *emu = open_emu();
    uint64_t seed = 1;
    for (unsigned n = 0; n < COUNT; n++) {
        uint64_t random = next_random(&seed);
        float near = (float)(int64_t)random * 0x1p-60f; /* up to 8 */
        in[n].u64 = n < EDGES ? edges[n] : (uint32_t)(random >> 16);
        if (n & 32) in[n].f32 = near;
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        cr_assert(!ptx_run(emu, functions[k].text, "f=f", COUNT, in, out), "%s", emu_message(emu));
        for (unsigned n = 0; n < COUNT; n++) {
            union value want = {.f32 = (float)functions[k].want((double)in[n].f32)};
            if (isnan(want.f32)) want.u64 = 0x7fffffff;
            cr_expect(want.u32 == out[n].u32, "%s of %x: %x, not %x", functions[k].text, in[n].u32,
                      out[n].u32, want.u32);
        }
    }
    emu_close(emu);
}

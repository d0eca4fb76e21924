/*
 * constants.c — constants, numbers in PTX, instructions as they are decoded.
 */
#include "numbers.h"
#include "ptx_run.h"
#include "common/emu/machine/machine.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fields of a decoded instruction: its operation, and the registers that it writes ---- */

/* These instructions come first. The slots of the tested instruction are compared with their
 * destinations. */
enum { R1, RD1, P1, TRIED };

#define BEFORE "mov.u32 %r1, 1;\nmov.u64 %rd1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n"

static const struct insn *decode(struct emu *emu, const char *instruction)
{
    char text[1000];
    snprintf(text, sizeof text,
             PTX_HEADER ".shared .align 16 .b8 s[64];\n"
                        ".visible .entry k()\n{\n"
                        ".reg .pred %%p<4>;\n.reg .b16 %%rs<4>;\n.reg .b32 %%r<6>;\n"
                        ".reg .b64 %%rd<6>;\n.reg .f32 %%f<6>;\n.reg .b128 %%q<3>;\n"
                        "%s%s\nEND: ret;\n}\n",
             BEFORE, instruction);
    return load_kernel(emu, text, "k")->code;
}

/* ---- families -------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum family family;
    enum control control;
} kinds[] = {
    {"add.u32 %r1, %r2, %r3;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"bfi.b32 %r1, %r2, %r3, 4, 5;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", FAMILY_LOGIC, CONTROL_NONE},
    {"lop3.or.b32 %r1|%p2, %r2, %r3, %r4, 0x96, !%p3;", FAMILY_LOGIC, CONTROL_NONE},
    {"setp.lt.s32 %p2|%p3, %r2, %r3;", FAMILY_COMPARE, CONTROL_NONE},
    {"set.lt.u32.s32 %r1, %r2, %r3;", FAMILY_COMPARE, CONTROL_NONE},
    {"cvt.rn.f32.s32 %f1, %r1;", FAMILY_CONVERT, CONTROL_NONE},
    {"mov.u32 %r1, %r2;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"mov.b64 %rd1, {%r1, %r2};", FAMILY_PACK, CONTROL_NONE},
    {"mov.b128 %q1, %q2;", FAMILY_WIDE_MOVE, CONTROL_NONE},
    {"mov.u32 %r1, %clock;", FAMILY_CLOCK, CONTROL_NONE},
    {"cvta.shared.u64 %rd1, %rd2;", FAMILY_CVTA, CONTROL_NONE},
    {"isspacep.shared %p1, %rd1;", FAMILY_ISSPACEP, CONTROL_NONE},
    {"alloca.u64 %rd1, %rd2;", FAMILY_ALLOCA, CONTROL_NONE},
    {"bra END;", FAMILY_BRANCH, CONTROL_BRANCH},
    {"ret;", FAMILY_OTHER, CONTROL_EXIT},
    {"membar.gl;", FAMILY_OTHER, CONTROL_NONE},
    {"bar.sync 0;", FAMILY_BARRIER, CONTROL_BARRIER},
    {"bar.arrive 1, 64;", FAMILY_BARRIER, CONTROL_ARRIVE},
    {"bar.red.and.pred %p1, 0, !%p2;", FAMILY_BARRIER, CONTROL_BARRIER},
    {"bar.warp.sync -1;", FAMILY_WARP, CONTROL_WARP_SYNC},
    {"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"vote.sync.ballot.b32 %r1, !%p1, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"elect.sync %r1|%p1, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s];", FAMILY_MEMORY, CONTROL_NONE},
    {"st.global.u32 [%rd1+4], %r1;", FAMILY_MEMORY, CONTROL_NONE},
    {"atom.global.add.u32 %r1, [%rd1], %r2;", FAMILY_ATOMIC, CONTROL_NONE},
    {"red.shared.max.s32 [s], %r2;", FAMILY_ATOMIC, CONTROL_NONE},
    {"atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4};", FAMILY_VECTOR_ATOMIC, CONTROL_NONE},
    {"mbarrier.init.shared.b64 [s], 32;", FAMILY_MBARRIER, CONTROL_NONE},
    {"mbarrier.try_wait.parity.shared.b64 %p1, [s], 0;", FAMILY_MBARRIER, CONTROL_WAIT_MBARRIER},
    {"barrier.cluster.wait;", FAMILY_OTHER, CONTROL_WAIT_CLUSTER},
    {"cp.async.ca.shared.global [s], [%rd1], 4;", FAMILY_COPY, CONTROL_NONE},
    {"cp.async.mbarrier.arrive.noinc.shared.b64 [s];", FAMILY_COPY_ARRIVAL, CONTROL_NONE},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;", FAMILY_BULK, CONTROL_NONE},
    {"cp.async.wait_group 1;", FAMILY_GROUP, CONTROL_NONE},
};

Test(emu_insn, families)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct insn *i = &decode(emu, kinds[k].text)[TRIED];
        cr_expect(i->family == kinds[k].family && i->control == kinds[k].control,
                  "%s: family %d, control %d", kinds[k].text, i->family, i->control);
    }
    emu_close(emu);
}

/* ---- members --------------------------------------------------------------------------------- */

Test(emu_insn, members_of_a_load)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "ld.global.v2.s16 {%rs1, _}, [%rd1+-6];");
    const struct insn *i = &code[TRIED];
    cr_expect(i->address.base == code[RD1].d && i->address.bytes == 8);
    cr_expect(i->address.offset == -6 && i->address.space == PTX_GLOBAL);
    cr_expect(i->elements == 2 && i->element_bytes == 2 && i->is_signed);
    cr_expect(i->memory.value[0] != NO_SLOT && i->memory.value[1] == NO_SLOT);
    emu_close(emu);
}

Test(emu_insn, members_of_a_reduction_at_a_barrier)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "bar.red.or.pred %p2, %r1, !%p1;");
    const struct insn *i = &code[TRIED];
    cr_expect(i->barrier.number == code[R1].d && i->barrier.threads == NO_SLOT);
    cr_expect(i->barrier.predicate == code[P1].d && i->barrier.negated);
    cr_expect(i->barrier.result == BARRIER_OR);
    emu_close(emu);
}

/* ---- registers that are written -------------------------------------------------------------- */

static const struct {
    const char *text;
    unsigned which; /* R1, RD1 or P1 */
    bool writes;
} writes[] = {
    {"add.u32 %r1, %r2, %r3;", R1, true},
    {"add.u32 %r2, %r1, %r1;", R1, false},
    {"bfi.b32 %r2, %r3, %r3, %r3, %r1;", R1, false},
    {"mov.b64 %rd2, {%r1, %r2};", R1, false},
    {"mov.b64 {%r2, %r1}, %rd2;", R1, true},
    {"setp.lt.s32 %p2|%p1, %r2, %r3;", P1, true},
    {"setp.lt.and.s32 %p2, %r2, %r3, %p1;", P1, false},
    {"lop3.or.b32 %r2|%p1, %r2, %r3, %r4, 0x96, %p3;", P1, true},
    {"lop3.or.b32 %r2|%p2, %r2, %r3, %r4, 0x96, %p1;", P1, false},
    {"cvt.s32.s16 %rd1, %rs1;", RD1, true},
    {"cvt.s16.s32 %rs1, %rd1;", RD1, false},
    {"ld.global.v2.u32 {%r2, %r1}, [%rd1];", R1, true},
    {"ld.global.v2.u32 {%r2, %r1}, [%rd1];", RD1, false},
    {"st.global.v2.u32 [%rd1], {%r2, %r1};", R1, false},
    {"atom.global.v2.f16x2.add.noftz {%r2, %r1}, [%rd1], {%r3, %r4};", R1, true},
    {"atom.global.v2.f16x2.add.noftz {%r2, %r3}, [%rd1], {%r4, %r1};", R1, false},
    {"shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;", P1, true},
    {"shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;", R1, false},
};

Test(emu_insn, registers_that_are_written)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof writes / sizeof *writes; k++) {
        const struct insn *code = decode(emu, writes[k].text);
        cr_expect(insn_writes(&code[TRIED], code[writes[k].which].d) == writes[k].writes, "%s",
                  writes[k].text);
    }
    emu_close(emu);
}

/* A conversion to a wider register uses a narrow register in between, which is not its result. */
Test(emu_insn, result_of_a_wide_conversion)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "cvt.s32.s16 %rd1, %rs1;");
    cr_expect(insn_result(&code[TRIED]) == code[RD1].d && code[TRIED].d != code[RD1].d);
    emu_close(emu);
}

/* The interpreter goes through an array of them. */
Test(emu_insn, is_two_lines_of_a_cache)
{
    cr_expect(sizeof(struct insn) <= 128, "%zu bytes", sizeof(struct insn));
}

/* ---- PTX's number types: reads, writes and rounds them --------------------------------------- */

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
    0, 1, 5, 31, 32, 0x7f, 0x8000, 0x7fffffff, 0x80000000, 0x8000000000000000, 0x7fffffffffffffff,
    0xffffffffffffffff, 0x123456789abcdef0,
};

static const uint64_t integer_more[] = {
    2, 3, 7, 8, 9, 15, 16, 17, 24, 30, 33, 63, 64, 65, 0x80, 0xfe, 0xff, 0x100, 0x101, 0x7fff,
    0x8001, 0xffff, 0x10000, 0x10001, 0x55555555, 0xaaaaaaaa, 0x80000001, 0xffffffff, 0x100000000,
    0xffffffff00000000, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0xfffffffffffffffe,
    0x8000000000000001, 0xdeadbeefcafef00d,
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

/* ---- constant expressions, in instructions, addresses and initial values --------------------- */

/* How far an element is from the array's beginning, as on an H200. */
#define DISTANCE(variable, element)                                                                \
    ".reg .b64 a;\n" variable ";\nmov.u64 a, v;\nmov.u64 $0, " element ";\nsub.s64 $0, $0, a"

static const struct {
    const char *text; /* an expression, or instructions without the last semicolon */
    uint64_t want;
} integers[] = {
    {"4*3+1", 13},
    {"1+2*3", 7},
    {"(1+2)*3", 9},
    {"(2<<4)|1", 33},
    {"2<<4|1", 33},
    {"~0", UINT64_MAX},
    {"-5", (uint64_t)-5},
    {"- -5", 5},
    {"+5", 5},
    {"-7/2", (uint64_t)-3},
    {"-7%3", (uint64_t)-1},
    {"-1>>1", UINT64_MAX},
    {"-1U>>1", INT64_MAX},
    {"(.u64)-1>>63", 1},
    {"(.s64)0xffffffffffffffff/2", 0},
    {"0xffffffffffffffff/2", INT64_MAX},
    {"(.s64)0x8000000000000000/-1", UINT64_C(1) << 63},
    {"(.s64)0x8000000000000000%-1", 0},
    {"1<<64", 0},
    {"5>3", 1},
    {"-1<0U", 0},
    {"3>=4", 0},
    {"4<=4", 1},
    {"1==1 && 2!=3", 1},
    {"0||!4", 0},
    {"6^3", 5},
    {"6&3", 2},
    {"1 ? 2 : 3", 2},
    {"0 ? 2 : 0 ? 3 : 4", 4},
    {"WARP_SZ-1", 31},
    {"(1.5 < 2.0) + 010 + 0b11", 12},
    {"1-2-3", (uint64_t)-4},
    {DISTANCE(".shared .b8 v[8]", "v[3]"), 3},
    {DISTANCE(".shared .v4 .f32 v[8]", "v[3]"), 12},
    {DISTANCE(".local .f64 v[4][8]", "v[99+1]"), 800},
    {DISTANCE(".local .u32 v[8]", "v[-1]"), 0xfffffffc},
    {".shared .u64 v[8];\nst.shared.u64 v[3], 7;\nld.shared.u64 $0, [v+24]", 7},
    {".local .u64 v[8];\nst.local.u64 [v+24], 7;\nld.local.u64 $0, v[3]", 7},
};

Test(emu_constants, integers)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char text[200];
        union value out = {0};
        snprintf(text, sizeof text, "%s%s;", strchr(integers[i].text, ';') ? "" : "mov.u64 $0, ",
                 integers[i].text);
        int e = ptx_run(emu, text, "l=", 1, NULL, &out);
        cr_expect(!e && out.u64 == integers[i].want, "%s: error %d, got %#llx, want %#llx: %s",
                  integers[i].text, e, (unsigned long long)out.u64,
                  (unsigned long long)integers[i].want, e ? emu_message(emu) : "");
    }
    emu_close(emu);
}

static const struct {
    const char *text;
    double want;
} reals[] = {{"1.5+2.25", 3.75}, {"-1.5", -1.5},       {"3.0/4", 0.75}, {"2*0d3FF8000000000000", 3},
             {"1.0-0.5", 0.5},   {"0 ? 1.0 : 2.0", 2}, {"-0.0", -0.0}};

Test(emu_constants, reals)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        char text[100];
        union value out[2] = {{0}};
        snprintf(text, sizeof text, "mov.f64 $0, %s;\nmov.f32 $1, %s;", reals[i].text,
                 reals[i].text);
        int e = ptx_run(emu, text, "df=", 1, NULL, out);
        cr_expect(!e && out[0].f64 == reals[i].want && out[1].f32 == (float)reals[i].want &&
                      signbit(out[0].f64) == signbit(reals[i].want),
                  "%s: error %d, got %g and %g: %s", reals[i].text, e, out[0].f64, out[1].f32,
                  emu_message(emu));
    }
    emu_close(emu);
}

/* Deep nesting is refused, not a crash. */
Test(emu_constants, nesting)
{
    enum { DEPTH = 100000 };
    struct emu *emu = open_emu();
    char *text = malloc(DEPTH + 100);
    union value out = {0};
    strcpy(text, "mov.u64 $0, ");
    memset(text + strlen(text), '(', DEPTH);
    strcpy(text + strlen("mov.u64 $0, ") + DEPTH, "1;");
    int e = ptx_run(emu, text, "l=", 1, NULL, &out);
    cr_expect(e == EMU_INVALID_PTX && strstr(emu_message(emu), "nested"), "error %d: %s", e,
              emu_message(emu));
    free(text);
    emu_close(emu);
}

/*
 * ops_integer.c — operations on integers: each with many operands, against C.
 */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <string.h>

/* ---- division of 64-bit integers that all fit into 48 bits, or nearly ------------------------ */

enum { WARPS = 400, LANES = 32, COUNT = WARPS * LANES };

/* By the warp's number: divisors that are equal in all lanes or not, numbers at the limit, next to
 * a multiple of the divisor, negative, 0, and in one lane too large. */
static void choose(unsigned n, uint64_t *seed, uint64_t *a, uint64_t *b)
{
    unsigned warp = n / LANES, lane = n % LANES;
    static uint64_t shared;
    const uint64_t limit = UINT64_C(1) << 48;
    uint64_t random = next_random(seed) >> 16;
    *b = (next_random(seed) >> (16 + warp % 48)) | 1;
    if (lane == 0) shared = *b;
    if (warp & 1) *b = shared;
    switch (warp / 2 % 8) {
    case 0: *a = random; break;
    case 1: *a = limit - 1 - lane; break;
    case 2: *a = random / *b * *b - (random > *b); break;
    case 3: *a = random / *b * *b; break;
    case 4: *a = lane & 1 ? 0 - random : random, *b = lane & 2 ? 0 - *b : *b; break;
    case 5: *a = lane == 5 ? random << 16 : lane; break;
    case 6: *a = random, *b = lane == 7 ? 0 : *b; break;
    default: *a = lane, *b = warp & 1 ? 1 : limit - 1;
    }
}

Test(emu_ops_divide, small_numbers)
{
    static union value in[COUNT][2], out[COUNT][4];
    struct emu *emu = open_emu();
    uint64_t seed = 1;
    for (unsigned n = 0; n < COUNT; n++) choose(n, &seed, &in[n][0].u64, &in[n][1].u64);
    int e = ptx_run(emu,
                    "div.u64 $0, $4, $5;\nrem.u64 $1, $4, $5;\n"
                    "div.s64 $2, $4, $5;\nrem.s64 $3, $4, $5;",
                    "llll=ll", COUNT, in[0], out[0]);
    cr_assert(!e, "%s", emu_message(emu));
    for (unsigned n = 0; n < COUNT; n++) {
        uint64_t a = in[n][0].u64, b = in[n][1].u64, want[4];
        memset(want, 0xff, sizeof want);
        if (b) want[0] = a / b, want[1] = a % b;
        if (b) want[2] = (uint64_t)((int64_t)a / (int64_t)b);
        if (b) want[3] = (uint64_t)((int64_t)a % (int64_t)b);
        cr_assert(!memcmp(want, out[n], sizeof want), "%llx, %llx: %llx %llx %llx %llx",
                  (unsigned long long)a, (unsigned long long)b, (unsigned long long)out[n][0].u64,
                  (unsigned long long)out[n][1].u64, (unsigned long long)out[n][2].u64,
                  (unsigned long long)out[n][3].u64);
    }
    emu_close(emu);
}

/* ---- integer arithmetic, logic, shifts and bit operations ------------------------------------ */

#define ALL       "u16 s16 u32 s32 u64 s64"
#define SHORT     "u16 s16 u32 s32"
#define WORDS     "u32 s32 u64 s64"
#define BIT_TYPES "b16 b32 b64"

/* A reference's operand i as a 128-bit integer of the row's type. */
static wide get(const struct form *f, const union value in[], unsigned i)
{
    return get_integer(f->type, in[i]);
}

/* As a signed one. */
static __int128 number(const struct form *f, const union value in[], unsigned i)
{
    return (__int128)get(f, in, i);
}

static bool put(const struct form *f, union value out[], wide n)
{
    out[0] = put_integer(f->type, n);
    return true;
}

/* `n` limited to the range of the row's type. */
static wide saturate(const struct form *f, __int128 n)
{
    __int128 low = least(f->type), high = greatest(f->type);
    return (wide)(n < low ? low : n > high ? high : n);
}

static wide clamped(const struct form *f, wide n)
{
    return f->sat ? saturate(f, (__int128)n) : n;
}

REFERENCE(add) { return put(f, out, clamped(f, get(f, in, 0) + get(f, in, 1))); }
REFERENCE(sub) { return put(f, out, clamped(f, get(f, in, 0) - get(f, in, 1))); }

static wide product(const struct form *f, const union value in[])
{
    return get(f, in, 0) * get(f, in, 1);
}

/* The part of a product that .lo and .hi keep. */
static wide part(const struct form *f, wide product)
{
    return has(f, "hi") ? product >> f->type->bits : product;
}

REFERENCE(mul) { return put(f, out, part(f, product(f, in))); }

static uint64_t twice_as_wide(const struct form *f, wide n)
{
    return f->type->bits == 16 ? (uint32_t)n : (uint64_t)n;
}

#define GIVES(value) { return out[0].u64 = (value), true; }
REFERENCE(mul_wide) GIVES(twice_as_wide(f, product(f, in)))
REFERENCE(mad_wide) GIVES(twice_as_wide(f, product(f, in) + in[2].u64))

REFERENCE(mad)
{
    wide kept = part(f, product(f, in));
    if (f->sat) /* only mad.hi.sat.s32: the high half is signed again */
        return put(f, out,
                   saturate(f, (__int128)(get_integer(f->type, put_integer(f->type, kept)) +
                                          get(f, in, 2))));
    return put(f, out, kept + get(f, in, 2));
}

#define A number(f, in, 0)
#define B number(f, in, 1)
/* by zero: unspecified, but no trap */
REFERENCE(divide) { return B && put(f, out, (wide)(A / B)); }
REFERENCE(rem) { return B && put(f, out, (wide)(A % B)); }
REFERENCE(absolute) { return put(f, out, (wide)(A < 0 ? -A : A)); }
REFERENCE(neg) { return put(f, out, -get(f, in, 0)); }
REFERENCE(smaller) { return put(f, out, (wide)(A < B ? A : B)); }
REFERENCE(greater) { return put(f, out, (wide)(A > B ? A : B)); }
REFERENCE(sad) { return put(f, out, (wide)(A < B ? B - A : A - B) + get(f, in, 2)); }

/* mul24 and mad24 use the low 24 bits of their factors, in the type's signedness. */
static wide product24(const struct form *f, const union value in[])
{
    wide factor[2];
    for (int i = 0; i < 2; i++) {
        uint32_t low = in[i].u32 & 0xffffff;
        bool negative = f->type->kind == SIGNED && low >> 23;
        factor[i] = negative ? (wide)low - 0x1000000 : low;
    }
    wide all = factor[0] * factor[1];
    return has(f, "hi") ? all >> 16 : all; /* bits 47 to 16, or 31 to 0 */
}

REFERENCE(mul24) { return put(f, out, product24(f, in)); }
REFERENCE(mad24) { return put(f, out, product24(f, in) + get(f, in, 2)); }

static const struct tried_op arithmetic[] = {
    OP("add.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, add),
    OP("add$M.$T $0, $1, $2;", "t=tt", "s32", NULL, ".sat", add),
    OP("sub.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, sub),
    OP("sub$M.$T $0, $1, $2;", "t=tt", "s32", NULL, ".sat", sub),
    OP("mul$M.$T $0, $1, $2;", "t=tt", ALL, NULL, ".lo .hi", mul),
    OP("mul.wide.$T $0, $1, $2;", "w=tt", SHORT, NULL, NULL, mul_wide),
    OP("mad$M.$T $0, $1, $2, $3;", "t=ttt", ALL, NULL, ".lo .hi", mad),
    OP("mad$M.$T $0, $1, $2, $3;", "t=ttt", "s32", NULL, ".hi.sat", mad),
    OP("mad.wide.$T $0, $1, $2, $3;", "w=ttw", SHORT, NULL, NULL, mad_wide),
    OP("mul24$M.$T $0, $1, $2;", "t=tt", "u32 s32", NULL, ".lo .hi", mul24),
    OP("mad24$M.$T $0, $1, $2, $3;", "t=ttt", "u32 s32", NULL, ".lo .hi", mad24),
    OP("div.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, divide),
    OP("rem.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, rem),
    OP("abs.$T $0, $1;", "t=t", "s16 s32 s64", NULL, NULL, absolute),
    OP("neg.$T $0, $1;", "t=t", "s16 s32 s64", NULL, NULL, neg),
    OP("min.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, smaller),
    OP("max.$T $0, $1, $2;", "t=tt", ALL, NULL, NULL, greater),
    OP("sad.$T $0, $1, $2, $3;", "t=ttt", ALL, NULL, NULL, sad),
};

Test(emu_ops_integer, arithmetic) { CHECK_OPS(arithmetic); }

/* ---- pairs of 16-bit integers ---------------------------------------------------------------- */

/* The row's modifier names the signedness of the halves. */
static bool pairwise(const struct form *f, const union value in[], union value out[], char op)
{
    const struct type *half = find_type(has(f, "s16x2") ? "s16" : "u16");
    for (unsigned shift = 0; shift < 32; shift += 16) {
        __int128 a = (__int128)get_integer(half, (union value){.u64 = in[0].u32 >> shift});
        __int128 b = (__int128)get_integer(half, (union value){.u64 = in[1].u32 >> shift});
        __int128 n = op == '+' ? a + b : (op == '<') == (a < b) ? a : b;
        out[0].u64 |= put_integer(half, (wide)n).u64 << shift;
    }
    return true;
}

REFERENCE(add_pair) { return pairwise(f, in, out, '+'); }
REFERENCE(min_pair) { return pairwise(f, in, out, '<'); }
REFERENCE(max_pair) { return pairwise(f, in, out, '>'); }

static const struct tried_op pairs[] = {
    OP("add$M $0, $1, $2;", "r=rr", "b32", NULL, ".u16x2 .s16x2", add_pair),
    OP("min$M $0, $1, $2;", "r=rr", "b32", NULL, ".u16x2 .s16x2", min_pair),
    OP("max$M $0, $1, $2;", "r=rr", "b32", NULL, ".u16x2 .s16x2", max_pair),
};

Test(emu_ops_integer, pairs) { CHECK_OPS(pairs); }

/* ---- carry chains ---------------------------------------------------------------------------- */

/* Two instructions add or subtract numbers that are twice as wide as the type; a third returns the
 * carry. */
static bool two_words(const struct form *f, const union value in[], union value out[], bool minus)
{
    unsigned bits = f->type->bits;
    wide mask = ((wide)1 << bits) - 1;
    wide low = (in[0].u64 & mask), high = (in[1].u64 & mask);
    wide low2 = (in[2].u64 & mask), high2 = (in[3].u64 & mask);
    wide first = minus ? low - low2 : low + low2;
    bool carry = first >> bits & 1;
    wide second = minus ? high - high2 - carry : high + high2 + carry;
    out[0] = put_integer(f->type, first);
    out[1] = put_integer(f->type, second);
    out[2] = put_integer(f->type, minus ? -(wide)(second >> bits & 1) : second >> bits & 1);
    return true;
}

REFERENCE(add_chain) { return two_words(f, in, out, false); }
REFERENCE(sub_chain) { return two_words(f, in, out, true); }

/* low + one half of a*b, high + the other half + carry */
static bool mad_halves(const struct form *f, const union value in[], union value out[],
                       bool swapped)
{
    unsigned bits = f->type->bits, low = swapped ? bits : 0, high = swapped ? 0 : bits;
    wide mask = ((wide)1 << bits) - 1, all = product(f, in);
    wide first = (all >> low & mask) + (in[2].u64 & mask);
    wide second = (all >> high & mask) + (in[3].u64 & mask) + (first >> bits);
    out[0] = put_integer(f->type, first);
    out[1] = put_integer(f->type, second);
    out[2] = put_integer(f->type, second >> bits);
    return true;
}

REFERENCE(mad_chain) { return mad_halves(f, in, out, false); }
REFERENCE(mad_chain_swapped) { return mad_halves(f, in, out, true); }

static const struct tried_op chains[] = {
    OP("add.cc.$T $0, $3, $5;\naddc.cc.$T $1, $4, $6;\naddc.$T $2, 0, 0;", "ttt=tttt", WORDS, NULL,
       NULL, add_chain),
    OP("sub.cc.$T $0, $3, $5;\nsubc.cc.$T $1, $4, $6;\nsubc.$T $2, 0, 0;", "ttt=tttt", WORDS, NULL,
       NULL, sub_chain),
    OP("mad.lo.cc.$T $0, $3, $4, $5;\nmadc.hi.cc.$T $1, $3, $4, $6;\naddc.$T $2, 0, 0;", "ttt=tttt",
       WORDS, NULL, NULL, mad_chain),
    OP("mad.hi.cc.$T $0, $3, $4, $5;\nmadc.lo.cc.$T $1, $3, $4, $6;\nmadc.lo.$T $2, 0, 0, 0;",
       "ttt=tttt", WORDS, NULL, NULL, mad_chain_swapped),
};

Test(emu_ops_integer, carry_chains) { CHECK_OPS(chains); }

/* ---- logic and shifts ------------------------------------------------------------------------ */

REFERENCE(and_) { return put(f, out, get(f, in, 0) & get(f, in, 1)); }
REFERENCE(or_) { return put(f, out, get(f, in, 0) | get(f, in, 1)); }
REFERENCE(xor_) { return put(f, out, get(f, in, 0) ^ get(f, in, 1)); }
REFERENCE(not_) { return put(f, out, ~get(f, in, 0)); }
REFERENCE(and_not) { return put(f, out, get(f, in, 0) & ~get(f, in, 1)); }
REFERENCE(or_not) { return put(f, out, ~get(f, in, 0) | get(f, in, 1)); }
REFERENCE(cnot) { return put(f, out, get(f, in, 0) == 0); }

/* Shift amounts are 32 bits wide for every type. An amount beyond the width counts as the width. */
static unsigned amount(const struct form *f, union value v)
{
    return v.u32 < f->type->bits ? v.u32 : f->type->bits;
}

REFERENCE(shl) { return put(f, out, get(f, in, 0) << amount(f, in[1])); }
REFERENCE(shr) { return put(f, out, (wide)((__int128)get(f, in, 0) >> amount(f, in[1]))); }

REFERENCE(shf)
{
    unsigned n = has(f, "wrap") ? in[2].u32 & 31 : in[2].u32 < 32 ? in[2].u32 : 32;
    uint64_t both = (uint64_t)in[1].u32 << 32 | in[0].u32;
    out[0].u64 = has(f, "l") ? (uint32_t)(both << n >> 32) : (uint32_t)(both >> n);
    return true;
}

static const struct tried_op logic[] = {
    OP("and.$T $0, $1, $2;", "t=tt", BIT_TYPES " pred", NULL, NULL, and_),
    OP("or.$T $0, $1, $2;", "t=tt", BIT_TYPES " pred", NULL, NULL, or_),
    OP("xor.$T $0, $1, $2;", "t=tt", BIT_TYPES " pred", NULL, NULL, xor_),
    OP("not.$T $0, $1;", "t=t", BIT_TYPES " pred", NULL, NULL, not_),
    OP("and.$T $0, $1, !$2;", "t=tt", "pred", NULL, NULL, and_not),
    OP("or.$T $0, !$1, $2;", "t=tt", "pred", NULL, NULL, or_not),
    OP("xor.$T $0, !$1, !$2;", "t=tt", "pred", NULL, NULL, xor_),
    OP("mov.$T $0, !$1;", "t=t", "pred", NULL, NULL, not_),
    OP("cnot.$T $0, $1;", "t=t", BIT_TYPES, NULL, NULL, cnot),
    OP("shl.$T $0, $1, $2;", "t=tr", BIT_TYPES, NULL, NULL, shl),
    OP("shr.$T $0, $1, $2;", "t=tr", ALL " " BIT_TYPES, NULL, NULL, shr),
    OP("shf$M.b32 $0, $1, $2, $3;", "r=rrr", "b32", NULL, ".l.wrap .l.clamp .r.wrap .r.clamp", shf),
};

Test(emu_ops_integer, logic_and_shifts) { CHECK_OPS(logic); }

/* lop3: bit (4a + 2b + c) of the table is the result for the bits a, b, c. All 256 tables, in a
 * whole warp and in some lanes of another, on different numbers in each lane. */
Test(emu_ops_integer, lop3_all_tables)
{
    enum { LANES = 32 + 5 };
    struct emu *emu = open_emu();
    union value in[LANES][3], out[LANES];
    uint64_t seed = 1;
    for (int n = 0; n < LANES; n++)
        for (int k = 0; k < 3; k++)
            in[n][k] = (union value){.u64 = (uint32_t)(next_random(&seed) >> 16)};
    for (unsigned table = 0; table < 256; table++) {
        char text[64];
        snprintf(text, sizeof text, "lop3.b32 $0, $1, $2, $3, 0x%x;", table);
        int e = ptx_run(emu, text, "r=rrr", LANES, in[0], out);
        cr_assert(!e, "%s: %s", text, emu_message(emu));
        for (int n = 0; n < LANES; n++) {
            uint32_t want = 0;
            for (unsigned bit = 0; bit < 32; bit++) {
                unsigned a = in[n][0].u32 >> bit & 1, b = in[n][1].u32 >> bit & 1;
                unsigned c = in[n][2].u32 >> bit & 1;
                want |= (table >> (4 * a + 2 * b + c) & 1) << bit;
            }
            cr_expect(out[n].u64 == want, "%s thread %d: got 0x%x, want 0x%x", text, n, out[n].u32,
                      want);
        }
    }
    emu_close(emu);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static bool bit(const union value *v, unsigned i) { return v->u64 >> i & 1; }

REFERENCE(popc)
{
    for (unsigned i = 0; i < f->type->bits; i++) out[0].u64 += bit(&in[0], i);
    return true;
}

REFERENCE(clz)
{
    while (out[0].u64 < f->type->bits && !bit(&in[0], f->type->bits - 1 - out[0].u32)) out[0].u64++;
    return true;
}

REFERENCE(brev)
{
    for (unsigned i = 0; i < f->type->bits; i++)
        out[0].u64 |= (uint64_t)bit(&in[0], i) << (f->type->bits - 1 - i);
    return true;
}

/* The highest 1 bit, or for negative signed numbers the highest 0 bit; .shiftamt: its distance from
 * the top. */
REFERENCE(bfind)
{
    unsigned top = f->type->bits - 1;
    bool negative = f->type->kind == SIGNED && bit(&in[0], top);
    out[0].u64 = UINT32_MAX;
    for (unsigned i = 0; i <= top; i++)
        if (bit(&in[0], i) != negative) out[0].u64 = has(f, "shiftamt") ? top - i : i;
    return true;
}

/* Position and length: the low byte of an operand of a 32-bit operation, all of it in a 64-bit one.
 * (PTX says "restricted to 0..255"; this is what an H200 does beyond.) */
static uint64_t bit_count(const struct form *f, const union value *in)
{
    return f->type->bits == 64 ? in->u32 : in->u8;
}

REFERENCE(bfe)
{
    uint64_t top = f->type->bits - 1;
    uint64_t position = bit_count(f, &in[1]), length = bit_count(f, &in[2]);
    unsigned sign_at = (unsigned)(position + length > top + 1 ? top : position + length - 1);
    bool sign = f->type->kind == SIGNED && length && bit(&in[0], sign_at);
    for (unsigned i = 0; i <= top; i++) {
        bool inside = i < length && position + i <= top;
        out[0].u64 |= (uint64_t)(inside ? bit(&in[0], (unsigned)position + i) : sign) << i;
    }
    return true;
}

REFERENCE(bfi)
{
    uint64_t top = f->type->bits - 1;
    uint64_t position = bit_count(f, &in[2]), length = bit_count(f, &in[3]);
    out[0] = in[1];
    for (unsigned i = 0; i < length && position + i <= top; i++) {
        uint64_t at = UINT64_C(1) << (position + i);
        out[0].u64 = bit(&in[0], i) ? out[0].u64 | at : out[0].u64 & ~at;
    }
    return true;
}

REFERENCE(bmsk)
{
    uint64_t start = in[0].u32, length = in[1].u32;
    if (has(f, "wrap")) start &= 31, length &= 31;
    for (uint64_t i = start; i < start + length && i < 32; i++) out[0].u64 |= UINT64_C(1) << i;
    return true;
}

/* The n-th 1 bit of the mask, counted from base upwards (n > 0) or downwards (n < 0). */
REFERENCE(fns)
{
    uint32_t mask = in[0].u32, base = in[1].u32 & 31;
    int32_t n = in[2].s32;
    if (in[1].u32 > 31) return false;
    out[0].u64 = UINT32_MAX;
    if (n == 0) {
        if (mask >> base & 1) out[0].u64 = base;
        return true;
    }
    int64_t left = n < 0 ? -(int64_t)n : n;
    for (int at = (int)base; at >= 0 && at < 32; at += n < 0 ? -1 : 1)
        if (mask >> at & 1 && --left == 0) {
            out[0].u64 = (uint64_t)at;
            break;
        }
    return true;
}

/* prmt's modes other than the default, by the low two bits of the selector: which of the eight
 * bytes (a is 0 to 3, b is 4 to 7) goes to each byte of the result, most significant first. */
static const struct {
    const char *mode, *bytes[4];
} permutations[] = {
    {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
    {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
    {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}},
};

REFERENCE(prmt)
{
    uint64_t bytes = (uint64_t)in[1].u32 << 32 | in[0].u32;
    for (unsigned i = 0; i < 4; i++) {
        unsigned from = in[2].u32 >> 4 * i & 7;
        bool replicate_sign = in[2].u32 >> 4 * i & 8;
        for (size_t m = 0; m < sizeof permutations / sizeof *permutations; m++)
            if (has(f, permutations[m].mode)) {
                from = (unsigned)(permutations[m].bytes[in[2].u32 & 3][3 - i] - '0');
                replicate_sign = false;
            }
        uint64_t byte = bytes >> 8 * from & 0xff;
        if (replicate_sign) byte = byte & 0x80 ? 0xff : 0;
        out[0].u64 |= byte << 8 * i;
    }
    return true;
}

/* Four products of bytes; the modifier names the signedness of a and of b: ".u32.s32". */
REFERENCE(dp4a)
{
    bool signed_a = f->modifiers[1] == 's', signed_b = f->modifiers[5] == 's';
    uint32_t sum = in[2].u32;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t a = (uint8_t)(in[0].u32 >> 8 * i), b = (uint8_t)(in[1].u32 >> 8 * i);
        int32_t x = signed_a ? (int8_t)a : a, y = signed_b ? (int8_t)b : b;
        sum += (uint32_t)(x * y);
    }
    out[0].u64 = sum;
    return true;
}

/* Two products of halves of a with the low or the high two bytes of b: ".lo.u32.s32". */
REFERENCE(dp2a)
{
    bool signed_a = f->modifiers[4] == 's', signed_b = f->modifiers[8] == 's';
    uint32_t sum = in[2].u32;
    for (unsigned i = 0; i < 2; i++) {
        uint16_t a = (uint16_t)(in[0].u32 >> 16 * i);
        uint8_t b = (uint8_t)(in[1].u32 >> (8 * i + (has(f, "hi") ? 16 : 0)));
        int64_t x = signed_a ? (int16_t)a : a, y = signed_b ? (int8_t)b : b;
        sum += (uint32_t)(x * y);
    }
    out[0].u64 = sum;
    return true;
}

#define SIGNEDNESS ".u32.u32 .u32.s32 .s32.u32 .s32.s32"
#define SIGNEDNESS2                                                                                \
    ".lo.u32.u32 .lo.u32.s32 .lo.s32.u32 .lo.s32.s32 "                                             \
    ".hi.u32.u32 .hi.u32.s32 .hi.s32.u32 .hi.s32.s32"

static const struct tried_op bits[] = {
    OP("popc.$T $0, $1;", "r=t", "b32 b64", NULL, NULL, popc),
    OP("clz.$T $0, $1;", "r=t", "b32 b64", NULL, NULL, clz),
    OP("brev.$T $0, $1;", "t=t", "b32 b64", NULL, NULL, brev),
    OP("bfind$M.$T $0, $1;", "r=t", WORDS, NULL, "- .shiftamt", bfind),
    OP("bfe.$T $0, $1, $2, $3;", "t=trr", WORDS, NULL, NULL, bfe),
    OP("bfi.$T $0, $1, $2, $3, $4;", "t=ttrr", "b32 b64", NULL, NULL, bfi),
    OP("bmsk$M.b32 $0, $1, $2;", "r=rr", "b32", NULL, ".clamp .wrap", bmsk),
    OP("fns.b32 $0, $1, $2, $3;", "r=rrr", "b32", NULL, NULL, fns),
    OP("prmt.b32$M $0, $1, $2, $3;", "r=rrr", "b32", NULL, "- .f4e .b4e .rc8 .ecl .ecr .rc16",
       prmt),
    OP("dp4a$M $0, $1, $2, $3;", "r=rrr", "b32", NULL, SIGNEDNESS, dp4a),
    OP("dp2a$M $0, $1, $2, $3;", "r=rrr", "b32", NULL, SIGNEDNESS2, dp2a),
};

Test(emu_ops_integer, bits) { CHECK_OPS(bits); }

/* Selectors and positions that are not among the edge values of a 32-bit number. */
Test(emu_ops_integer, fields_and_selectors_at_random)
{
    enum { COUNT = 2000 };
    static union value in[COUNT][4], out[COUNT];
    static const struct {
        const char *text;
        reference *want;
    } fields[] = {
        {"bfe.u32 $0, $1, $2, $3;", bfe},
        {"bfe.s32 $0, $1, $2, $3;", bfe},
        {"prmt.b32 $0, $1, $2, $3;", prmt},
        {"fns.b32 $0, $1, $2, $3;", fns},
    };
    struct emu *emu = open_emu();
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct form form = {.type = find_type(strstr(fields[i].text, ".s32") ? "s32" : "u32"),
                            .modifiers = ""};
        static union value packed[COUNT][3];
        for (int n = 0; n < COUNT; n++) {
            uint64_t random = next_random(&seed);
            in[n][0].u64 = (uint32_t)random;
            in[n][1].u64 = i == 2 ? random >> 32 : random >> 32 & 31;
            in[n][2].u64 = i == 2   ? next_random(&seed) & 0xffff
                           : i == 3 ? (uint32_t)(int32_t)(next_random(&seed) % 41 - 20)
                                    : next_random(&seed) % 40;
            memcpy(packed[n], in[n], sizeof packed[n]);
        }
        int e = ptx_run(emu, fields[i].text, "r=rrr", COUNT, packed[0], out);
        cr_assert(!e, "%s: %s", fields[i].text, emu_message(emu));
        for (int n = 0; n < COUNT; n++) {
            union value want = {0};
            bool defined = fields[i].want(&form, in[n], &want);
            cr_expect(!defined || want.u64 == out[n].u64,
                      "%s in 0x%x 0x%x 0x%x, got 0x%x, want 0x%x", fields[i].text, in[n][0].u32,
                      in[n][1].u32, in[n][2].u32, out[n].u32, want.u32);
        }
    }
    emu_close(emu);
}

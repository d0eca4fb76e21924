/*
 * ops.c — operations of PTX on many operands, against C: comparisons, selections, moves, logic on
 * predicates, lop3, approximations; and instructions whose results are known. What arithmetic and
 * conversions compute is held to an H200's results by tests/docs/test_fidelity.py (functions.csv,
 * bits.csv, carries.csv of profiles/h200).
 */
#define _GNU_SOURCE
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables of operations -------------------------------------------------------------------- */

/*
 * A row says how an instruction is written, which types and modifiers it takes and what it must
 * give; check_ops() tries every combination on every combination of edge values.
 */

/* One instruction: a row with its type and modifiers chosen. */
struct form {
    const struct type *type, *from; /* $T; $S where the row has a second list, otherwise the same */
    const char *modifiers;          /* $M, as written: ".lt.ftz" */
};

/* Computes the result that the instruction must have. out is all zeros before. */
typedef void reference(const struct form *, const union value in[], union value out[]);
#define UNUSED __attribute__((unused))
#define REFERENCE(name)                                                                            \
    static void name(UNUSED const struct form *f, UNUSED const union value in[],                   \
                     UNUSED union value out[])

struct tried_op {
    const char *text;      /* "add$M.$T $0, $1, $2;" */
    const char *operands;  /* as in ptx_run.h, and t, s: a register of type $T, $S */
    const char *types;     /* for $T, separated by blanks */
    const char *from;      /* for $S; NULL: only one type */
    const char *modifiers; /* for $M, separated by blanks; "-": without a modifier; NULL: "-" */
    reference *want;
};

enum { MAX_FAILURES_SHOWN = 3, MAX_INPUTS = 4, MAX_OUTPUTS = 4, FORM_TEXT = 512 };

/* Does a modifier stand in the form? has(form, "ftz") */
static bool has(const struct form *form, const char *modifier)
{
    size_t length = strlen(modifier);
    for (const char *s = form->modifiers; (s = strchr(s, '.')); s++)
        if (!strncmp(s + 1, modifier, length) && (s[1 + length] == '.' || !s[1 + length]))
            return true;
    return false;
}

/* Replaces $T, $S and $M in a row's text; $0 … $9 stay for ptx_run(). */
static void expand(char *to, size_t size, const char *text, const struct form *form)
{
    FILE *f = fmemopen(to, size, "w");
    cr_assert(f);
    for (const char *s = text; *s; s++) {
        const char *with = NULL;
        if (s[0] == '$' && s[1] == 'T') with = form->type->name;
        if (s[0] == '$' && s[1] == 'S') with = form->from->name;
        if (s[0] == '$' && s[1] == 'M') with = form->modifiers;
        if (with)
            fputs(with, f), s++;
        else
            fputc(*s, f);
    }
    fclose(f);
}

/* The type whose edge values suit an operand, and the operand's register. */
static const struct type *operand_type(const struct form *form, char letter, char *reg)
{
    static const char *const names[][2] = {{"h", "u16"}, {"r", "u32"}, {"l", "u64"},
                                           {"f", "f32"}, {"d", "f64"}, {"p", "pred"}};
    const struct type *t = letter == 's' ? form->from : form->type;
    *reg = letter == 't' || letter == 's' ? t->letter : letter;
    if (letter == 't' || letter == 's') return t;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0][0] == *reg) return find_type(names[i][1]);
    cr_assert_fail("no operand letter '%c'", letter);
    abort();
}

/* All combinations of edge values, or of the few where there are three inputs and more. */
static size_t combine(const struct type *const types[], unsigned inputs, union value **all)
{
    union value edges[MAX_INPUTS][MAX_EDGES];
    size_t counts[MAX_INPUTS], total = 1;
    for (unsigned i = 0; i < inputs; i++)
        total *= counts[i] = edge_values(types[i], inputs > 2, edges[i]);

    /* With four inputs even combinations of the few values are too many. A fixed random sample of
     * them is used. */
    enum { MOST = 6000 };
    size_t count = total > MOST ? MOST : total;
    uint64_t seed = 1;
    *all = calloc(count * inputs + 1, sizeof **all);
    cr_assert(*all);
    for (size_t n = 0; n < count; n++) {
        size_t rest = count < total ? next_random(&seed) % total : n;
        for (unsigned i = 0; i < inputs; i++) {
            (*all)[n * inputs + i] = edges[i][rest % counts[i]];
            rest /= counts[i];
        }
    }
    return count;
}

/* Bits of a register class. */
static unsigned width(char reg)
{
    return reg == 'h' ? 16 : reg == 'l' || reg == 'd' ? 64 : reg == 'p' ? 1 : 32;
}

static void print_values(FILE *f, const char *label, unsigned count,
                         const struct type *const types[], const union value *values)
{
    fprintf(f, "%s", label);
    for (unsigned i = 0; i < count; i++) {
        fprintf(f, " 0x%llx", (unsigned long long)values[i].u64);
        if (types[i]->kind == FLOAT) fprintf(f, " (%.9Lg)", get_real(types[i], values[i]));
    }
}

/* Runs one form on all inputs. */
static void check_form(struct emu *emu, const struct tried_op *op, const struct form *form)
{
    char text[FORM_TEXT], operands[PTX_RUN_OPERANDS + 2] = "";
    expand(text, sizeof text, op->text, form);

    const struct type *types[PTX_RUN_OPERANDS];
    unsigned outputs = ptx_outputs(op->operands), inputs = ptx_inputs(op->operands);
    cr_assert(outputs <= MAX_OUTPUTS && inputs <= MAX_INPUTS);
    operands[outputs] = '=';
    for (unsigned i = 0; i < outputs + inputs; i++) {
        unsigned at = i < outputs ? i : i + 1;
        types[i] = operand_type(form, op->operands[at], &operands[at]);
    }

    union value *in;
    size_t count = combine(types + outputs, inputs, &in);
    union value *out = calloc(count * outputs, sizeof *out);
    cr_assert(out);

    int e = ptx_run(emu, text, operands, count, in, out);
    size_t wrong = 0;
    for (size_t n = 0; n < count && !e; n++) {
        union value want[MAX_OUTPUTS] = {{0}};
        op->want(form, in + n * inputs, want);
        bool same = true;
        for (unsigned i = 0; i < outputs; i++) {
            unsigned bits = width(operands[i]);
            if (bits < 64) want[i].u64 &= (UINT64_C(1) << bits) - 1;
            same &= out[n * outputs + i].u64 == want[i].u64;
        }
        if (same || wrong++ >= MAX_FAILURES_SHOWN) continue;
        char *message;
        size_t size;
        FILE *f = open_memstream(&message, &size);
        cr_assert(f);
        fprintf(f, "%s thread %zu:", text, n);
        print_values(f, " in", inputs, types + outputs, in + n * inputs);
        print_values(f, ", got", outputs, types, out + n * outputs);
        print_values(f, ", want", outputs, types, want);
        fclose(f);
        cr_expect(false, "%s", message);
        free(message);
    }
    cr_expect(!e, "%s: error %d: %s", text, e, emu_message(emu));
    if (wrong > MAX_FAILURES_SHOWN)
        cr_expect(false, "%s: %zu of %zu results are wrong", text, wrong, count);
    free(in);
    free(out);
}

/* Tries every row in every form. */
static void check_ops(const struct tried_op *ops, size_t count)
{
    struct emu *emu = open_emu();
    size_t forms = 0;
    char type[16], from[16], modifiers[32];
    for (const struct tried_op *op = ops; op < ops + count; op++) {
        for (const char *t = op->types; next_word(&t, type, sizeof type);) {
            for (const char *s = op->from ? op->from : type; next_word(&s, from, sizeof from);) {
                const char *m = op->modifiers ? op->modifiers : "-";
                while (next_word(&m, modifiers, sizeof modifiers)) {
                    bool none = !strcmp(modifiers, "-");
                    struct form form = {find_type(type), find_type(from), none ? "" : modifiers};
                    check_form(emu, op, &form);
                    forms++;
                }
            }
        }
    }
    cr_assert(forms >= count, "a row of the table has no form");
    emu_close(emu);
}

#define CHECK_OPS(table) check_ops(table, sizeof(table) / sizeof *(table))

/* ---- setp, set, selp, slct: comparisons and selections --------------------------------------- */

/* The comparison is the form's first modifier: ".ltu.ftz.and". */
static bool is(const struct form *f, const char *comparison)
{
    size_t length = strlen(comparison);
    const char *s = f->modifiers + 1;
    return !strncmp(s, comparison, length) && (!s[length] || s[length] == '.');
}

/* By which orders a comparison holds; u: one operand, or both, is a NaN. */
static const struct {
    const char *name, *holds;
} comparisons[] = {{"eq", "="},   {"ne", "<>"},   {"lt", "<"},    {"le", "<="},  {"gt", ">"},
                   {"ge", ">="},  {"equ", "=u"},  {"neu", "<>u"}, {"ltu", "<u"}, {"leu", "<=u"},
                   {"gtu", ">u"}, {"geu", ">=u"}, {"num", "<=>"}, {"nan", "u"},  {"lo", "<"},
                   {"ls", "<="},  {"hi", ">"},    {"hs", ">="}};

/* Compares two values of the type $S. */
static bool compare(const struct form *f, union value a, union value b)
{
    if (has(f, "ftz")) a = flush(f->from, a), b = flush(f->from, b);
    long double x = get_real(f->from, a), y = get_real(f->from, b);
    char order = isnan(x) || isnan(y) ? 'u' : x < y ? '<' : x > y ? '>' : '=';
    for (size_t k = 0; k < sizeof comparisons / sizeof *comparisons; k++)
        if (is(f, comparisons[k].name)) return strchr(comparisons[k].holds, order);
    cr_assert_fail("no comparison in '%s'", f->modifiers);
    return false;
}

static bool combined(const struct form *f, bool comparison, bool c)
{
    return has(f, "and")   ? comparison && c
           : has(f, "or")  ? comparison || c
           : has(f, "xor") ? comparison != c
                           : comparison;
}

REFERENCE(setp) { out[0].u64 = compare(f, in[0], in[1]); }

REFERENCE(setp_combined)
{
    bool comparison = compare(f, in[0], in[1]);
    out[0].u64 = combined(f, comparison, in[2].u64);
    out[1].u64 = combined(f, !comparison, in[2].u64);
}

REFERENCE(setp_combined_inverted)
{
    out[0].u64 = combined(f, compare(f, in[0], in[1]), !in[2].u64);
}

/* set gives all ones, or 1.0 if its own type is a floating-point one. */
REFERENCE(set_combined)
{
    const struct type *t = f->type;
    if (combined(f, compare(f, in[0], in[1]), in[2].u64))
        out[0] = t->kind == FLOAT ? put_real(t, 1) : put_integer(t, (wide)-1);
}

#define SIGNED_COMPARISONS   ".eq .ne .lt .le .gt .ge"
#define UNSIGNED_COMPARISONS SIGNED_COMPARISONS " .lo .ls .hi .hs"
#define REAL_COMPARISONS     SIGNED_COMPARISONS " .equ .neu .ltu .leu .gtu .geu .num .nan"
#define FTZ_COMPARISONS                                                                            \
    ".eq.ftz .ne.ftz .lt.ftz .le.ftz .gt.ftz .ge.ftz .equ.ftz .neu.ftz .ltu.ftz .leu.ftz "         \
    ".gtu.ftz .geu.ftz .num.ftz .nan.ftz"
#define COMBINED ".lt.and .lt.or .lt.xor .ne.and .ne.or .ne.xor"

/* Here $T is a dummy and $S the type compared: the row's result is a predicate. */
static const struct tried_op setps[] = {
    {"setp$M.$S $0, $1, $2;", "p=ss", "b32", "u16 u32 u64", UNSIGNED_COMPARISONS, setp},
    {"setp$M.$S $0, $1, $2;", "p=ss", "b32", "s16 s32 s64", SIGNED_COMPARISONS, setp},
    {"setp$M.$S $0, $1, $2;", "p=ss", "b32", "b16 b32 b64", ".eq .ne", setp},
    {"setp$M.$S $0, $1, $2;", "p=ss", "b32", "f32 f64 f16 bf16", REAL_COMPARISONS, setp},
    {"setp$M.$S $0, $1, $2;", "p=ss", "b32", "f32 f16", FTZ_COMPARISONS, setp},
    {"setp$M.$S $0|$1, $2, $3;", "pp=ss", "b32", "s32 u64 s16", SIGNED_COMPARISONS, setp_combined},
    {"setp$M.$S $0|$1, $2, $3;", "pp=ss", "b32", "f32 f64", REAL_COMPARISONS, setp_combined},
    {"setp$M.$S $0|$1, $2, $3, $4;", "pp=ssp", "b32", "s32 u32 s64 u16 f32 f64", COMBINED,
     setp_combined},
    {"setp$M.$S $0, $1, $2, !$3;", "p=ssp", "b32", "s32 f32", COMBINED, setp_combined_inverted},
};

static const struct tried_op sets[] = {
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "u32 s32 f32", "u16 u32 u64", UNSIGNED_COMPARISONS,
     set_combined},
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "u32 s32 f32", "s16 s32 s64", SIGNED_COMPARISONS,
     set_combined},
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "u32 f32", "f32 f64", REAL_COMPARISONS, set_combined},
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "u32 f32", "f32", FTZ_COMPARISONS, set_combined},
    {"set$M.$T.$S $0, $1, $2, $3;", "t=ssp", "u32 f32", "s32 f32 f64", COMBINED, set_combined},
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "f16 u16 s16 u32 s32", "f16", REAL_COMPARISONS,
     set_combined},
    {"set$M.$T.$S $0, $1, $2;", "t=ss", "bf16 u16 u32", "bf16", REAL_COMPARISONS, set_combined},
};

Test(emu_ops, setp) { CHECK_OPS(setps); }
Test(emu_ops, set) { CHECK_OPS(sets); }

REFERENCE(selp) { out[0] = in[2].u64 ? in[0] : in[1]; }

REFERENCE(slct)
{
    union value c = has(f, "ftz") ? flush(f->from, in[2]) : in[2];
    bool first = f->from->kind == FLOAT ? get_real(f->from, c) >= 0 /* false for NaN */
                                        : (__int128)get_integer(f->from, c) >= 0;
    out[0] = first ? in[0] : in[1];
}

#define SELECTED "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"

static const struct tried_op selections[] = {
    {"selp.$T $0, $1, $2, $3;", "t=ttp", SELECTED, NULL, NULL, selp},
    {"selp.$T $0, $2, $1, !$3;", "t=ttp", SELECTED, NULL, NULL, selp},
    {"slct.$T.$S $0, $1, $2, $3;", "t=tts", SELECTED, "s32 f32", NULL, slct},
    {"slct$M.$T.$S $0, $1, $2, $3;", "t=tts", "b32 f64", "f32", ".ftz", slct},
    {"mov.b32 $0, $1;\n@!$3 mov.b32 $0, $2;", "r=rrp", "b32", NULL, NULL, selp},
    {"mov.b32 $0, $2;\n@$3 mov.b32 $0, $1;", "r=rrp", "b32", NULL, NULL, selp},
};

Test(emu_ops, selections) { CHECK_OPS(selections); }

/* ---- moves, with packing and unpacking ------------------------------------------------------- */

REFERENCE(copy) { out[0] = in[0]; }

/* A vector's first element is the least significant part. */
REFERENCE(pack)
{
    unsigned parts = f->modifiers[1] == '4' ? 4 : 2, bits = f->type->bits / parts;
    for (unsigned i = 0; i < parts; i++) out[0].u64 |= in[i].u64 << bits * i;
}

REFERENCE(unpack)
{
    unsigned parts = f->modifiers[1] == '4' ? 4 : 2, bits = f->type->bits / parts;
    for (unsigned i = 0; i < parts; i++) out[i].u64 = in[0].u64 >> bits * i; /* cut by check_ops */
}

REFERENCE(unpack_high) { out[0].u64 = in[0].u64 >> f->type->bits / 2; }

/* The modifiers of the vector rows stand in a comment of the PTX: they only pass the shape to the
 * reference. */
static const struct tried_op moves[] = {
    {"mov.$T $0, $1;", "t=t", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 pred", NULL, NULL, copy},
    {"mov.b32 $0, $1;", "r=f", "b32", NULL, NULL, copy},
    {"mov.b64 $0, $1;", "d=l", "b64", NULL, NULL, copy},
    {"mov.$T $0, {$1, $2}; // $M", "t=hh", "b32", NULL, ".2", pack},
    {"mov.$T $0, {$1, $2}; // $M", "t=rr", "b64", NULL, ".2", pack},
    {"mov.$T $0, {$1, $2}; // $M", "d=rr", "b64", NULL, ".2", pack},
    {"mov.$T $0, {$1, $2, $3, $4}; // $M", "t=hhhh", "b64", NULL, ".4", pack},
    {"mov.$T {$0, $1}, $2; // $M", "hh=t", "b32", NULL, ".2", unpack},
    {"mov.$T {$0, $1}, $2; // $M", "rr=t", "b64", NULL, ".2", unpack},
    {"mov.$T {$0, $1}, $2; // $M", "rr=d", "b64", NULL, ".2", unpack},
    {"mov.$T {$0, $1, $2, $3}, $4; // $M", "hhhh=t", "b64", NULL, ".4", unpack},
    {"mov.$T {_, $0}, $1;", "r=t", "b64", NULL, NULL, unpack_high},
    {"mov.$T {_, $0}, $1;", "h=t", "b32", NULL, NULL, unpack_high},
};

Test(emu_ops, moves) { CHECK_OPS(moves); }

/* ---- logic on predicates, and tests of floats ------------------------------------------------ */

REFERENCE(and_) { out[0].u64 = in[0].u64 & in[1].u64; }
REFERENCE(or_) { out[0].u64 = in[0].u64 | in[1].u64; }
REFERENCE(xor_) { out[0].u64 = in[0].u64 ^ in[1].u64; }
REFERENCE(not_) { out[0].u64 = !in[0].u64; }
REFERENCE(and_not) { out[0].u64 = in[0].u64 && !in[1].u64; }
REFERENCE(or_not) { out[0].u64 = !in[0].u64 || in[1].u64; }

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
}

#define TESTS ".finite .infinite .number .notanumber .normal .subnormal"

static const struct tried_op logic[] = {
    {"and.$T $0, $1, $2;", "t=tt", "pred", NULL, NULL, and_},
    {"or.$T $0, $1, $2;", "t=tt", "pred", NULL, NULL, or_},
    {"xor.$T $0, $1, $2;", "t=tt", "pred", NULL, NULL, xor_},
    {"not.$T $0, $1;", "t=t", "pred", NULL, NULL, not_},
    {"and.$T $0, $1, !$2;", "t=tt", "pred", NULL, NULL, and_not},
    {"or.$T $0, !$1, $2;", "t=tt", "pred", NULL, NULL, or_not},
    {"xor.$T $0, !$1, !$2;", "t=tt", "pred", NULL, NULL, xor_},
    {"mov.$T $0, !$1;", "t=t", "pred", NULL, NULL, not_},
    {"testp$M.$T $0, $1;", "p=t", "f32 f64", NULL, TESTS, testp},
};

Test(emu_ops, logic_and_tests) { CHECK_OPS(logic); }

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

Test(emu_ops, small_numbers)
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

/* ---- instructions whose results are known ---------------------------------------------------- */

#define F(bits) 0x##bits##u
#define DISTANCE(variable, element)                                                                \
    ".reg .b64 a;\n" variable ";\nmov.u64 a, v;\nmov.u64 $0, " element ";\nsub.s64 $0, $0, a;"

static const struct {
    const char *text, *operands;
    uint64_t in[3], want;
} rows[] = {
    /* every way in which PTX writes a constant */
    {"mov.u32 $0, 42;", "r=", {0}, 42},
    {"mov.u32 $0, 0x2A;", "r=", {0}, 42},
    {"mov.u32 $0, 052;", "r=", {0}, 42},
    {"mov.u32 $0, 0b101010;", "r=", {0}, 42},
    {"mov.u32 $0, 42U;", "r=", {0}, 42},
    {"mov.s32 $0, -42;", "r=", {0}, 0xffffffd6},
    {"mov.u32 $0, 4294967295;", "r=", {0}, 0xffffffff},
    {"mov.u64 $0, 0xffffffffffffffff;", "l=", {0}, UINT64_MAX},
    {"mov.s64 $0, -9223372036854775808;", "l=", {0}, UINT64_C(1) << 63},
    {"mov.b64 $0, -1;", "l=", {0}, UINT64_MAX},
    {"mov.u16 $0, 65535;", "h=", {0}, 0xffff},
    {"mov.b16 $0, -1;", "h=", {0}, 0xffff},
    {"mov.f32 $0, 0f3F800000;", "f=", {0}, 0x3f800000},
    {"mov.f32 $0, 0F7fffffff;", "f=", {0}, 0x7fffffff},
    {"mov.f32 $0, 1.5;", "f=", {0}, 0x3fc00000},
    {"mov.f32 $0, -2.5e-1;", "f=", {0}, 0xbe800000},
    {"mov.f64 $0, 0d3FF8000000000000;", "d=", {0}, 0x3ff8000000000000},
    {"mov.f64 $0, 1e3;", "d=", {0}, 0x408f400000000000},
    {"mov.u32 $0, WARP_SZ;", "r=", {0}, 32},
    {"add.s32 $0, 7, -9;", "r=", {0}, 0xfffffffe},
    {"add.f32 $0, 0f3F800000, 0f3F800000;", "f=", {0}, 0x40000000},
    {"cvt.rn.f32.s32 $0, -3;", "f=", {0}, 0xc0400000},
    {"shl.b64 $0, 1, 63;", "l=", {0}, UINT64_C(1) << 63},
    /* constant expressions; of an address, how far an element is from the array's beginning */
    {"mov.u64 $0, 4*3+1;", "l=", {0}, 13},
    {"mov.u64 $0, 1+2*3;", "l=", {0}, 7},
    {"mov.u64 $0, (1+2)*3;", "l=", {0}, 9},
    {"mov.u64 $0, (2<<4)|1;", "l=", {0}, 33},
    {"mov.u64 $0, 2<<4|1;", "l=", {0}, 33},
    {"mov.u64 $0, ~0;", "l=", {0}, UINT64_MAX},
    {"mov.u64 $0, -5;", "l=", {0}, (uint64_t)-5},
    {"mov.u64 $0, - -5;", "l=", {0}, 5},
    {"mov.u64 $0, +5;", "l=", {0}, 5},
    {"mov.u64 $0, -7/2;", "l=", {0}, (uint64_t)-3},
    {"mov.u64 $0, -7%3;", "l=", {0}, (uint64_t)-1},
    {"mov.u64 $0, -1>>1;", "l=", {0}, UINT64_MAX},
    {"mov.u64 $0, -1U>>1;", "l=", {0}, INT64_MAX},
    {"mov.u64 $0, (.u64)-1>>63;", "l=", {0}, 1},
    {"mov.u64 $0, (.s64)0xffffffffffffffff/2;", "l=", {0}, 0},
    {"mov.u64 $0, 0xffffffffffffffff/2;", "l=", {0}, INT64_MAX},
    {"mov.u64 $0, (.s64)0x8000000000000000/-1;", "l=", {0}, UINT64_C(1) << 63},
    {"mov.u64 $0, (.s64)0x8000000000000000%-1;", "l=", {0}, 0},
    {"mov.u64 $0, 1<<64;", "l=", {0}, 0},
    {"mov.u64 $0, 5>3;", "l=", {0}, 1},
    {"mov.u64 $0, -1<0U;", "l=", {0}, 0},
    {"mov.u64 $0, 3>=4;", "l=", {0}, 0},
    {"mov.u64 $0, 4<=4;", "l=", {0}, 1},
    {"mov.u64 $0, 1==1 && 2!=3;", "l=", {0}, 1},
    {"mov.u64 $0, 0||!4;", "l=", {0}, 0},
    {"mov.u64 $0, 6^3;", "l=", {0}, 5},
    {"mov.u64 $0, 6&3;", "l=", {0}, 2},
    {"mov.u64 $0, 1 ? 2 : 3;", "l=", {0}, 2},
    {"mov.u64 $0, 0 ? 2 : 0 ? 3 : 4;", "l=", {0}, 4},
    {"mov.u64 $0, WARP_SZ-1;", "l=", {0}, 31},
    {"mov.u64 $0, (1.5 < 2.0) + 010 + 0b11;", "l=", {0}, 12},
    {"mov.u64 $0, 1-2-3;", "l=", {0}, (uint64_t)-4},
    {DISTANCE(".shared .b8 v[8]", "v[3]"), "l=", {0}, 3},
    {DISTANCE(".shared .v4 .f32 v[8]", "v[3]"), "l=", {0}, 12},
    {DISTANCE(".local .f64 v[4][8]", "v[99+1]"), "l=", {0}, 800},
    {DISTANCE(".local .u32 v[8]", "v[-1]"), "l=", {0}, 0xfffffffc},
    {".shared .u64 v[8];\nst.shared.u64 v[3], 7;\nld.shared.u64 $0, [v+24];", "l=", {0}, 7},
    {".local .u64 v[8];\nst.local.u64 [v+24], 7;\nld.local.u64 $0, v[3];", "l=", {0}, 7},
    {"mov.f64 $0, 1.5+2.25;", "d=", {0}, 0x400e000000000000},
    {"mov.f64 $0, -1.5;", "d=", {0}, 0xbff8000000000000},
    {"mov.f64 $0, 3.0/4;", "d=", {0}, 0x3fe8000000000000},
    {"mov.f64 $0, 2*0d3FF8000000000000;", "d=", {0}, 0x4008000000000000},
    {"mov.f64 $0, 1.0-0.5;", "d=", {0}, 0x3fe0000000000000},
    {"mov.f64 $0, 0 ? 1.0 : 2.0;", "d=", {0}, 0x4000000000000000},
    {"mov.f64 $0, -0.0;", "d=", {0}, UINT64_C(1) << 63},
    {"mov.f32 $0, 1.5+2.25;", "f=", {0}, 0x40700000},
    /* 16-bit floats: 1 is 3c00 and 3f80, 2 is 4000 and 4000, NaN 7fff */
    {"ex2.approx.f16 $0, $1;", "h=h", {0x3c00}, 0x4000},
    {"ex2.approx.ftz.bf16x2 $0, $1;", "r=r", {0x3f800000}, 0x40003f80},
    {"tanh.approx.f16x2 $0, $1;", "r=r", {0x00007c00}, 0x00003c00},
    {"tanh.approx.bf16 $0, $1;", "h=h", {0xff80}, 0xbf80},
    {"set.eq.u32.f16x2 $0, $1, $2;", "r=rr", {0x3c004000, 0x3c004001}, 0xffff0000},
    {"set.neu.u32.bf16x2 $0, $1, $2;", "r=rr", {0x7fff4000, 0x7fff4000}, 0xffff0000},
    {"{.reg .pred p, q; setp.gt.f16x2 p|q, $1, $2; selp.u32 $0, 1, 0, p; @q add.u32 $0, $0, 2;}",
     "r=rr",
     {0x40003c00, 0x3c004000},
     2},
    {"cvt.rni.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4000}, /* 2.5 to 2 */
    {"cvt.rpi.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4040},
    {"cvt.rmi.bf16.bf16 $0, $1;", "h=h", {0xc020}, 0xc040},
    {"cvt.rn.relu.f16.f32 $0, $1;", "h=r", {F(bf800000)}, 0},
    {"cvt.rn.bf16.s16 $0, $1;", "h=h", {0xfffe}, 0xc000},
    /* floats */
    {"mad.rn.f32 $0, $1, $2, $3;", "r=rrr", {F(40000000), F(40400000), F(3f800000)}, F(40e00000)},
    {"mad.rp.ftz.f32 $0, $1, $2, $3;", "r=rrr", {F(1), F(40400000), F(3f800000)}, F(3f800000)},
    {"mad.rz.f64 $0, $1, $1, $1;", "d=d", {UINT64_C(1) << 62}, 0x4018000000000000},
    {"cvt.rn.sat.f32.s32 $0, $1;", "r=r", {5}, F(3f800000)},
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
    {"sad.u16 $0, $1, $2, $2;", "h=hh", {3, 9}, 15},
    {"sad.s64 $0, $1, $2, $3;", "l=lll", {(uint64_t)-4, 3, 1}, 8},
    {"cvt.sat.u64.s64 $0, $1;", "l=l", {(uint64_t)-4}, 0},
    {"cvt.sat.s64.u64 $0, $1;", "l=l", {UINT64_MAX}, INT64_MAX},
    {"not.b16 $0, $1;", "h=h", {0x0ff0}, 0xf00f},
    {"cnot.b16 $0, $1;", "h=h", {0}, 1},
    {"{.reg .pred p; setp.eq.u32 p, $1, 9; lop3.or.b32 $0|p, $1, $2, 0, 0xc0, p;\n"
     "@p add.u32 $0, $0, 64;}",
     "r=rr",
     {6, 3},
     2 + 64},
    {"{.reg .pred p; setp.eq.u32 p, $1, 6; lop3.and.b32 _|p, $1, $2, 0, 0xc0, !p;\n"
     "selp.u32 $0, 1, 0, p;}",
     "r=rr",
     {6, 3},
     0},
    /* bytes, and 128 bits */
    {"{.reg .b8 a, b; mov.b16 {a, b}, $1; mov.b16 $0, {b, a};}", "h=h", {0x1234}, 0x3412},
    {"{.reg .b128 q, s; mov.b128 q, {$1, $2}; mov.b128 s, q; mov.b128 {_, $0}, s;}",
     "l=ll",
     {11, 22},
     22},
    {"{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; mov.u64 $0, 3;}",
     "l=",
     {0},
     3},
};

Test(emu_ops, give_known_results)
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

static double reciprocal(double x) { return 1 / x; }
static double reciprocal_root(double x) { return 1 / sqrt(x); }

/* All are the exact result, rounded, as the C library has it; also far beyond the range for which
 * PTX bounds the error, and where a warp has both. */
Test(emu_ops, approximations_are_exact)
{
    static const struct {
        const char *text;
        double (*want)(double);
    } functions[] = {
        {"ex2.approx.f32 $0, $1;", exp2},       {"lg2.approx.f32 $0, $1;", log2},
        {"sin.approx.f32 $0, $1;", sin},        {"cos.approx.f32 $0, $1;", cos},
        {"tanh.approx.f32 $0, $1;", tanh},      {"sqrt.approx.f32 $0, $1;", sqrt},
        {"rcp.approx.f32 $0, $1;", reciprocal}, {"rsqrt.approx.f32 $0, $1;", reciprocal_root}};
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

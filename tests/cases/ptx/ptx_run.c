/*
 * ptx_run.c — runs pieces of PTX that are written in tests; PTX's number types; tables of
 * operations, in all types and modifiers.
 */
#define _GNU_SOURCE
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, SLOT = sizeof(union value), DEVICE_BYTES = 64 << 20 };

struct class
{
    char letter;
    const char *reg;  /* how it is declared */
    const char *move; /* the type of its loads and stores */
    unsigned bytes;
};

static const struct class classes[] = {
    {'h', ".b16", "b16", 2}, {'r', ".b32", "b32", 4}, {'l', ".b64", "b64", 8},
    {'f', ".f32", "f32", 4}, {'d', ".f64", "f64", 8}, {'p', ".pred", "b32", 4},
};

static const struct class *class_of(char letter)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].letter == letter) return &classes[i];
    cr_assert_fail("no operand class '%c'", letter);
    abort();
}

unsigned ptx_outputs(const char *operands) { return (unsigned)strcspn(operands, "="); }

unsigned ptx_inputs(const char *operands)
{
    return (unsigned)strlen(operands) - ptx_outputs(operands) - 1;
}

char *ptx_text(const char *body, const char *operands)
{
    unsigned outputs = ptx_outputs(operands), inputs = ptx_inputs(operands);
    cr_assert(outputs + inputs <= PTX_RUN_OPERANDS);

    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);

    const char *newer = strncmp(body, NEWER, strlen(NEWER)) ? "" : NEWER;
    body += strlen(newer);
    fputs(*newer ? ".version 9.0\n.target sm_100\n.address_size 64\n" : PTX_HEADER, f);
    fputs(".visible .entry op(.param .u64 p_out, .param .u64 p_in) {\n"
          ".reg .b32 %t<4>;\n.reg .b64 %out, %in;\n",
          f);
    for (unsigned i = 0; i < outputs + inputs; i++) {
        char letter = operands[i < outputs ? i : i + 1];
        fprintf(f, ".reg %s %%%c%u;\n", class_of(letter)->reg, letter, i);
    }
    fprintf(f,
            "ld.param.u64 %%out, [p_out];\nld.param.u64 %%in, [p_in];\n"
            "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%ntid.x;\nmov.u32 %%t2, %%tid.x;\n"
            "mad.lo.u32 %%t0, %%t0, %%t1, %%t2;\n"
            "mad.wide.u32 %%out, %%t0, %u, %%out;\nmad.wide.u32 %%in, %%t0, %u, %%in;\n",
            outputs * SLOT, inputs * SLOT);
    for (unsigned i = 0; i < inputs; i++) {
        const struct class *c = class_of(operands[outputs + 1 + i]);
        if (c->letter == 'p')
            fprintf(f, "ld.global.b32 %%t3, [%%in+%u];\nsetp.ne.s32 %%p%u, %%t3, 0;\n", i * SLOT,
                    outputs + i);
        else
            fprintf(f, "ld.global.%s %%%c%u, [%%in+%u];\n", c->move, c->letter, outputs + i,
                    i * SLOT);
    }
    for (const char *s = body; *s; s++) {
        if (*s == '$' && s[1] >= '0' && s[1] <= '9') {
            unsigned i = (unsigned)(*++s - '0');
            cr_assert(i < outputs + inputs);
            fprintf(f, "%%%c%u", operands[i < outputs ? i : i + 1], i);
        } else
            fputc(*s, f);
    }
    fputc('\n', f);
    for (unsigned i = 0; i < outputs; i++) {
        const struct class *c = class_of(operands[i]);
        if (c->letter == 'p')
            fprintf(f, "selp.b32 %%t3, 1, 0, %%p%u;\nst.global.b32 [%%out+%u], %%t3;\n", i,
                    i * SLOT);
        else
            fprintf(f, "st.global.%s [%%out+%u], %%%c%u;\n", c->move, i * SLOT, c->letter, i);
    }
    fputs("ret;\n}\n", f);
    fclose(f);
    return text;
}

int ptx_run(struct emu *emu, const char *body, const char *operands, size_t count,
            const union value *in, union value *out)
{
    unsigned outputs = ptx_outputs(operands), inputs = ptx_inputs(operands);
    size_t padded = (count + BLOCK - 1) / BLOCK * BLOCK; /* a whole number of blocks */
    size_t in_bytes = padded * inputs * SLOT, out_bytes = padded * outputs * SLOT;

    struct emu_module *module = NULL;
    struct emu_kernel *kernel = NULL;
    emu_addr in_device = 0, out_device = 0;
    char *text = ptx_text(body, operands);

    int e = emu_load(emu, text, strlen(text), "op", &module);
    if (!e) e = emu_kernel(emu, module, "op", &kernel);
    /* Memory of at least one byte, so that a statement without inputs needs no special case. */
    if (!e) e = emu_alloc(emu, in_bytes + 1, &in_device);
    if (!e) e = emu_alloc(emu, out_bytes, &out_device);
    if (!e) e = emu_fill(emu, in_device, 0, in_bytes + 1);
    if (!e) e = emu_fill(emu, out_device, 0, out_bytes);
    if (!e && inputs) e = emu_write(emu, in_device, in, count * inputs * SLOT);
    if (!e) {
        struct emu_dim grid = {(unsigned)(padded / BLOCK), 1, 1}, block = {BLOCK, 1, 1};
        e = emu_launch(emu, kernel, grid, block, 0, (void *[]){&out_device, &in_device}, false);
    }
    if (!e) e = emu_read(emu, out, out_device, count * outputs * SLOT);

    if (in_device) emu_free(emu, in_device);
    if (out_device) emu_free(emu, out_device);
    if (module && !e) emu_unload(emu, module); /* keeps the message of a failure */
    free(text);
    return e;
}

struct emu *open_emu(void)
{
    return open_emu_with(&(struct emu_config){.threads = 1, .memory = DEVICE_BYTES});
}

struct emu *open_emu_with(const struct emu_config *config)
{
    char message[256] = "";
    struct emu *emu = emu_open(config, message, sizeof message);
    cr_assert(emu, "emu_open: %s", message);
    return emu;
}

struct emu_kernel *load_kernel(struct emu *emu, const char *ptx, const char *name)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    cr_assert(!emu_load(emu, ptx, strlen(ptx), "test.ptx", &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, name, &kernel), "%s", emu_message(emu));
    return kernel;
}

emu_addr device_copy(struct emu *emu, const void *host, size_t bytes)
{
    emu_addr address = 0;
    cr_assert(!emu_alloc(emu, bytes, &address), "%s", emu_message(emu));
    cr_assert(!(host ? emu_write(emu, address, host, bytes) : emu_fill(emu, address, 0, bytes)),
              "%s", emu_message(emu));
    return address;
}

int launch(struct emu *emu, struct emu_kernel *kernel, unsigned grid, unsigned block, size_t shared,
           unsigned count, const uint64_t *args)
{
    void *pointers[8] = {NULL};
    cr_assert(count <= 8);
    for (unsigned i = 0; i < count; i++) pointers[i] = (void *)&args[i];
    return emu_launch(emu, kernel, (struct emu_dim){grid, 1, 1}, (struct emu_dim){block, 1, 1},
                      shared, pointers, false);
}

char *ptx_kernel(const char *format, ...)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);
    fputs(PTX_PROLOGUE("k"), f);
    va_list args;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fputs("\n}\n", f);
    fclose(f);
    return text;
}

void run_kernel(struct emu *emu, const char *ptx, unsigned threads, unsigned block, uint32_t *out,
                const uint32_t *in)
{
    size_t bytes = threads * sizeof *out;
    struct emu_kernel *kernel = load_kernel(emu, ptx, "k");
    emu_addr out_device = device_copy(emu, NULL, bytes), in_device = device_copy(emu, in, bytes);
    cr_assert(
        !launch(emu, kernel, threads / block, block, 0, 2, (uint64_t[]){out_device, in_device}),
        "%s", emu_message(emu));
    cr_assert(!emu_read(emu, out, out_device, bytes), "%s", emu_message(emu));
    emu_free(emu, out_device);
    emu_free(emu, in_device);
}

uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
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
    {"pred", PREDICATE, 1, 'p', 0, 0},
};

const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    cr_assert_fail("no type '%s'", name);
    abort();
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

union value put_real(const struct type *t, long double real)
{
    uint64_t all = (UINT64_C(1) << fraction_bits(t)) - 1;
    if (isnan(real)) return encode(t, false, exponent_ones(t), all);

    bool negative = signbit(real);
    long double x = fabsl(real);
    if (isinf(x)) return encode(t, negative, exponent_ones(t), 0);
    if (x == 0) return encode(t, negative, 0, 0);

    /* In units of the result's last place. */
    int e = ilogbl(x) < least_exponent(t) ? least_exponent(t) : ilogbl(x);
    uint64_t n = (uint64_t)rintl(ldexpl(x, fraction_bits(t) - e));
    if (n >> t->mantissa) n >>= 1, e++; /* the rounding has carried into the next exponent */
    if (e > t->exponent) return encode(t, negative, exponent_ones(t), 0);
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
    switch (t->kind) {
    case PREDICATE:
        edges[n++] = (union value){.u64 = 0};
        edges[n++] = (union value){.u64 = 1};
        return n;
    case FLOAT:
        for (size_t i = 0; i < sizeof real_few / sizeof *real_few; i++)
            edges[n++] = put_real(t, real_few[i]);
        n += special_values(t, few, edges + n);
        for (size_t i = 0; !few && i < sizeof real_more / sizeof *real_more; i++)
            edges[n++] = put_real(t, real_more[i]);
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

bool next_word(const char **list, char *word, size_t size)
{
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    cr_assert(length < size);
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    return length > 0;
}

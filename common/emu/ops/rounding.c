/*
 * An x86 processor has modes for roundings and for denormal numbers in MXCSR (ops_rules.c).
 * WebAssembly has neither, and ignores fesetround without a word. There, operations whose result
 * depends on the rounding are computed by soft_float.c. All others run on flushed copies of their
 * operands.
 */
#include "rounding.h"
#include <fenv.h>

#if !defined __x86_64__
#include "soft_float.h"
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

/* A register of 8 or 16 bits is extended to 32 bits by its type, as ops.h says. */
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

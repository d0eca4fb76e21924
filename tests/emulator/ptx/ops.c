/* ops.c — tries an operation of PTX in all types and modifiers of a table. */
#define _POSIX_C_SOURCE 200809L /* strtok_r, open_memstream */
#include "ops.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAILURES_SHOWN = 3, MAX_INPUTS = 4, MAX_OUTPUTS = 4, FORM_TEXT = 512 };

bool has(const struct form *form, const char *modifier)
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

static char doubled(char letter) { return letter == 'h' ? 'r' : 'l'; }

/* The type whose edge values suit an operand, and the operand's register. */
static const struct type *operand_type(const struct form *form, char letter, char *reg)
{
    static const char *const names[][2] = {{"h", "u16"}, {"r", "u32"}, {"l", "u64"},
                                           {"f", "f32"}, {"d", "f64"}, {"p", "pred"}};
    const struct type *t = letter == 's' ? form->from : form->type;
    *reg = letter == 't' || letter == 's' ? t->letter : letter == 'w' ? doubled(t->letter) : letter;
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

/* Is a number so small that a product or a quotient with it may be denormal? */
static bool is_small(const struct type *t, union value value)
{
    if (t->kind != FLOAT || t->bits != 32) return false;
    float magnitude = fabsf(value.f32);
    return magnitude > 0 && magnitude < 0x1p-60f;
}

/* Moves the combinations with a small number to the front, in their order. The warps of the others
 * have no denormal number in any lane; operations with .ftz run them by other code. */
static void put_small_first(union value *all, size_t count, unsigned inputs,
                            const struct type *const types[])
{
    union value *sorted = calloc(count * inputs + 1, sizeof *sorted);
    cr_assert(sorted);
    size_t placed = 0;
    for (int small = 1; small >= 0; small--)
        for (size_t n = 0; n < count; n++) {
            int found = 0;
            for (unsigned i = 0; i < inputs; i++) found |= is_small(types[i], all[n * inputs + i]);
            if (found == small)
                memcpy(sorted + inputs * placed++, all + n * inputs, inputs * sizeof *all);
        }
    memcpy(all, sorted, count * inputs * sizeof *all);
    free(sorted);
}

/* Bits of a register class. */
static unsigned width(char reg)
{
    return reg == 'h' ? 16 : reg == 'l' || reg == 'd' ? 64 : reg == 'p' ? 1 : 32;
}

static bool near(const struct type *t, union value got, union value want,
                 const struct tolerance *within)
{
    long double g = get_real(t, got), w = get_real(t, want);
    if (isnan(w) || isinf(w) || isnan(g) || isinf(g)) return g == w;
    long double off = fabsl(g - w);
    /* Adjacent floating-point numbers of one sign have adjacent bit patterns. */
    int64_t steps = (int64_t)(got.u64 - want.u64);
    bool same_sign = signbit(g) == signbit(w);
    return off <= within->absolute || off <= within->relative * fabsl(w) ||
           (same_sign && fabs((double)steps) <= within->ulps);
}

static bool equal_half(const struct op *op, const struct type *t, union value got, union value want)
{
    if (got.u64 == want.u64) return true;
    if (t->kind != FLOAT) return false;
    if (is_nan(t, want)) return is_nan(t, got) && (op->any_nan || t->bits == 64);
    return (op->within.ulps || op->within.relative || op->within.absolute) &&
           near(t, got, want, &op->within);
}

static bool equal(const struct op *op, const struct type *t, union value got, union value want)
{
    const struct type *half = packed_type(t->name);
    if (!half) return equal_half(op, t, got, want);
    return !(got.u64 >> 32) &&
           equal_half(op, half, (union value){.u64 = got.u16}, (union value){.u64 = want.u16}) &&
           equal_half(op, half, (union value){.u64 = got.u32 >> 16},
                      (union value){.u64 = want.u32 >> 16});
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

/* Runs one form on all inputs. Returns whether everything agreed. */
static bool check_form(struct emu *emu, const struct op *op, const struct form *form)
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
    if (form->ftz) put_small_first(in, count, inputs, types + outputs);
    union value *out = calloc(count * outputs, sizeof *out);
    cr_assert(out);

    int e = ptx_run(emu, text, operands, count, in, out);
    size_t wrong = 0;
    for (size_t n = 0; n < count && !e; n++) {
        union value want[MAX_OUTPUTS] = {{0}};
        if (!op->want(form, in + n * inputs, want)) continue;
        bool same = true;
        for (unsigned i = 0; i < outputs; i++) {
            unsigned bits = width(operands[i]);
            if (bits < 64) want[i].u64 &= (UINT64_C(1) << bits) - 1;
            same &= equal(op, types[i], out[n * outputs + i], want[i]);
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
    return !e && !wrong;
}

static struct form make_form(const char *type, const char *from, const char *modifiers)
{
    struct form form = {.type = find_type(type), .from = find_type(from), .modifiers = modifiers};
    form.ftz = has(&form, "ftz");
    form.sat = has(&form, "sat");
    form.rounding = has(&form, "rz") || has(&form, "rzi")   ? ZERO
                    : has(&form, "rm") || has(&form, "rmi") ? DOWN
                    : has(&form, "rp") || has(&form, "rpi") ? UP
                                                            : NEAREST;
    return form;
}

/* The words of a list separated by blanks, in turn: `list` moves on. Returns false at its end. */
static bool next_word(const char **list, char *word, size_t size)
{
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    cr_assert(length < size);
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    return length > 0;
}

void check_ops(const struct op *ops, size_t count)
{
    struct emu *emu = open_emu();
    size_t forms = 0;
    char type[16], from[16], modifiers[32];
    for (const struct op *op = ops; op < ops + count; op++) {
        for (const char *t = op->types; next_word(&t, type, sizeof type);) {
            for (const char *s = op->from ? op->from : type; next_word(&s, from, sizeof from);) {
                const char *m = op->modifiers ? op->modifiers : "-";
                while (next_word(&m, modifiers, sizeof modifiers)) {
                    bool none = !strcmp(modifiers, "-");
                    struct form form = make_form(type, from, none ? "" : modifiers);
                    check_form(emu, op, &form);
                    forms++;
                }
            }
        }
    }
    cr_assert(forms >= count, "a row of the table has no form");
    emu_close(emu);
}

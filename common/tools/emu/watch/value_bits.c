/* value_bits.c — which bits of a result depend on unwritten bits. */
#include "check.h"

enum { WIDEST = 64, BYTE = 8 };

static uint64_t lowest(uint64_t count)
{
    return count >= WIDEST ? ALL_BITS : (UINT64_C(1) << count) - 1;
}

static uint64_t all_if(uint64_t bits) { return bits ? ALL_BITS : 0; }

/* The k-th word from the end, a type; words[0] is the instruction's name. */
static enum ptx_type type_of(const struct ptx_instruction *i, unsigned k)
{
    return i->word_count > k + 1 ? ptx_type_named(i->words[i->word_count - 1 - k]) : PTX_NONE;
}

/* In bits; 0 for predicates. */
static unsigned width_of(enum ptx_type type) { return (unsigned)(ptx_type_size(type) * BYTE); }

/* ---- operands -------------------------------------------------------------------------------- */

static unsigned register_width(const struct value_bits *v, const struct ptx_operand *operand)
{
    return operand->kind == PTX_REGISTER ? width_of(v->function->registers[operand->index].type)
                                         : 0;
}

/* The bits per part of a vector whose parts make up one register; 0: unknown. */
static unsigned part_width(const struct value_bits *v, const struct ptx_operand *vector)
{
    unsigned width = 0;
    for (unsigned k = 0; k < vector->count && !width; k++)
        width = register_width(v, vector->items[k]);
    return width * vector->count <= WIDEST ? width : 0;
}

uint64_t value_bits_of(const struct value_bits *v, const struct ptx_operand *operand)
{
    uint64_t bits = operand->kind == PTX_REGISTER ? v->bits[operand->index] : 0;
    unsigned width = operand->kind == PTX_VECTOR ? part_width(v, operand) : 0;
    for (unsigned k = 0; operand->kind == PTX_VECTOR && k < operand->count; k++) {
        uint64_t part = value_bits_of(v, operand->items[k]);
        bits |= width ? part << (k * width) : all_if(part);
    }
    return operand->other ? bits | value_bits_of(v, operand->other) : bits;
}

bool value_bits_add(struct value_bits *v, const struct ptx_operand *operand, uint64_t bits,
                    bool each)
{
    bool changed = false;
    if (operand->kind == PTX_REGISTER) {
        unsigned width = register_width(v, operand);
        uint64_t before = v->bits[operand->index];
        v->bits[operand->index] |= width ? bits & lowest(width) : all_if(bits);
        changed = v->bits[operand->index] != before;
    }
    unsigned width = operand->kind == PTX_VECTOR && !each ? part_width(v, operand) : 0;
    for (unsigned k = 0; operand->kind == PTX_VECTOR && k < operand->count; k++) {
        uint64_t part = each ? bits : width ? bits >> (k * width) : all_if(bits);
        changed = value_bits_add(v, operand->items[k], part, each) || changed;
    }
    return (operand->other && value_bits_add(v, operand->other, all_if(bits), each)) || changed;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* The bits of the k-th operand behind the result. */
static uint64_t source(const struct value_bits *v, const struct ptx_instruction *i, unsigned k)
{
    return k + 1 < i->operand_count ? value_bits_of(v, &i->operands[k + 1]) : 0;
}

static uint64_t any_source(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t bits = 0;
    for (unsigned k = 0; k + 1 < i->operand_count; k++) bits |= source(v, i, k);
    return bits;
}

/* Is the k-th operand behind the result an integer constant? */
static bool constant(const struct ptx_instruction *i, unsigned k, uint64_t *value)
{
    if (k + 1 >= i->operand_count || i->operands[k + 1].kind != PTX_INTEGER) return false;
    *value = i->operands[k + 1].bits;
    return true;
}

static uint64_t anything(const struct value_bits *v, const struct ptx_instruction *i)
{
    return all_if(any_source(v, i));
}

/* Does the instruction have only these words, the last of them integer types? */
static bool is_plain(const struct ptx_instruction *i, unsigned words, unsigned types)
{
    bool yes = i->word_count == words;
    for (unsigned k = 0; k < types && yes; k++)
        yes = type_of(i, k) >= PTX_B8 && type_of(i, k) <= PTX_S64;
    return yes;
}

static uint64_t mask(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t with = ALL_BITS;
    return constant(i, 1, &with) ? source(v, i, 0) & with : any_source(v, i);
}

/* A bit of a sum or a difference does not depend on higher bits. */
static uint64_t add(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t bits = any_source(v, i);
    return is_plain(i, 2, 1) ? ~((bits & -bits) - 1) : all_if(bits);
}

static uint64_t shift_left(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t by;
    return constant(i, 1, &by) && by < WIDEST ? source(v, i, 0) << by : anything(v, i);
}

static uint64_t shift_right(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t by;
    enum ptx_type type = type_of(i, 0);
    if (!constant(i, 1, &by) || by >= WIDEST || ptx_type_is_signed(type)) return anything(v, i);
    return (source(v, i, 0) & lowest(width_of(type))) >> by;
}

/* bfi d, inserted, base, position, length */
static uint64_t insert(const struct value_bits *v, const struct ptx_instruction *i)
{
    uint64_t at, length;
    if (!constant(i, 2, &at) || !constant(i, 3, &length) || at >= WIDEST) return anything(v, i);
    uint64_t field = lowest(length) << at;
    return (source(v, i, 1) & ~field) | (source(v, i, 0) << at & field);
}

/* cvt.to.from, between integers */
static uint64_t convert(const struct value_bits *v, const struct ptx_instruction *i)
{
    enum ptx_type to = type_of(i, 1), from = type_of(i, 0);
    unsigned width = width_of(from) < width_of(to) ? width_of(from) : width_of(to);
    bool extends = ptx_type_is_signed(from) && width_of(from) < width_of(to);
    if (!is_plain(i, 3, 2) || extends) return anything(v, i);
    return source(v, i, 0) & lowest(width);
}

/* selp d, a, b, predicate; shfl d, a, lane, clamp, members: the rest chooses which value it is */
static uint64_t choose(const struct value_bits *v, const struct ptx_instruction *i, unsigned values)
{
    uint64_t bits = 0, choice = 0;
    for (unsigned k = 0; k + 1 < i->operand_count; k++)
        *(k < values ? &bits : &choice) |= source(v, i, k);
    return choice ? ALL_BITS : bits;
}
static uint64_t select(const struct value_bits *v, const struct ptx_instruction *i)
{
    return choose(v, i, 2);
}
static uint64_t shuffle(const struct value_bits *v, const struct ptx_instruction *i)
{
    return choose(v, i, 1);
}

/* Whether x < 1000 or x >= 1000 (binary) does not depend on x's lowest three bits. Neither does
 * whether x <= 111 or x > 111. A sign always counts. */
static uint64_t compare(const struct value_bits *v, const struct ptx_instruction *i)
{
    static const char *const below[] = {"lt", "ge", "lo", "hs"}, *const up_to[] = {"le", "gt", "ls",
                                                                                   "hi"};
    uint64_t with, ignored = 0;
    if (!is_plain(i, 3, 1) || !constant(i, 1, &with)) return anything(v, i);
    for (unsigned k = 0; k < sizeof below / sizeof *below; k++) {
        if (!strcmp(i->words[1], below[k])) ignored = ~with & (with - 1);
        if (!strcmp(i->words[1], up_to[k])) ignored = with & ~(with + 1);
    }
    return all_if(source(v, i, 0) & ~(ignored & lowest(width_of(type_of(i, 0)) - 1)));
}

uint64_t value_bits_result(const struct value_bits *v, const struct ptx_instruction *i)
{
    static const struct {
        const char *name;
        uint64_t (*bits)(const struct value_bits *, const struct ptx_instruction *);
    } known[] = {{"mov", any_source}, {"or", any_source}, {"xor", any_source}, {"and", mask},
                 {"add", add},        {"sub", add},       {"shl", shift_left}, {"shr", shift_right},
                 {"bfi", insert},     {"cvt", convert},   {"selp", select},    {"shfl", shuffle},
                 {"setp", compare}};
    if (i->guard >= 0 && v->bits[i->guard]) return ALL_BITS;
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(i->words[0], known[k].name)) return known[k].bits(v, i);
    return anything(v, i);
}

uint64_t value_bits_loaded(const struct ptx_instruction *i)
{
    enum ptx_type type = type_of(i, 0);
    unsigned width = width_of(type);
    return width && !ptx_type_is_signed(type) ? lowest(width) : ALL_BITS;
}

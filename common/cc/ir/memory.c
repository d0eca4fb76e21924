/*
 * memory.c — which memory does an access touch, and where? Each address becomes the sum of a base,
 * of multiples of values, and of a constant, so that equal addresses are found to be equal, and
 * neighbours to be neighbours.
 *
 *     temp[2 * t + 1] = x        %1 = symbol.shared temp       %3 = mul %t, 8
 *                                %4 = add %1, %3               store.shared.f32 %4 + 4, x
 *
 * Shared memory is addressed with 32 bits, so that its sums may be taken apart whether they
 * overflow or not. Elsewhere (long)(i + 1) is (long)i + 1 only if i + 1 does not overflow, which C
 * promises for int, but not for unsigned.
 */
#include "passes.h"

enum { MOST_TERMS = 12, MOST_STEPS = 300 };

/* A value, times a factor. In 64 bits: a value of 32 bits, extended. */
struct term {
    struct ir_value *value;
    bool is_signed;
    int64_t factor;
};

struct sum {
    bool is_narrow;        /* of 32 bits */
    struct ir_value *base; /* NULL: none was found yet */
    struct term terms[MOST_TERMS];
    int count;
    uint64_t constant;
    bool is_too_long;
    int steps; /* a sum of sums may be large without being long */
};

/* ---- taking apart ---------------------------------------------------------------------------- */

static void add_term(struct sum *s, struct ir_value *value, bool is_signed, int64_t factor)
{
    for (int k = 0; k < s->count; k++) {
        struct term *t = &s->terms[k];
        bool is_same = t->value == value && (s->is_narrow || t->is_signed == is_signed);
        if (!is_same) continue;
        t->factor += factor;
        return;
    }
    if (s->count == MOST_TERMS)
        s->is_too_long = true;
    else
        s->terms[s->count++] = (struct term){value, is_signed, factor};
}

static void take_apart(struct sum *s, struct ir_value *v, bool is_signed, int64_t factor);

/* A sum or product with a constant, if it may be taken apart. */
static bool take_operation(struct sum *s, struct ir_value *v, bool is_signed, int64_t factor)
{
    bool is_exact = s->is_narrow || v->type == IR_I64 || (v->no_overflow && is_signed);
    if (!is_exact) return false;
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    switch (v->op) {
    case IR_ADD:
        take_apart(s, left, is_signed, factor);
        take_apart(s, right, is_signed, factor);
        return true;
    case IR_SUBTRACT:
        take_apart(s, left, is_signed, factor);
        take_apart(s, right, is_signed, (int64_t)(0 - (uint64_t)factor));
        return true;
    case IR_MULTIPLY:
        if (!ir_is_constant(right)) return false;
        take_apart(s, left, is_signed, (int64_t)((uint64_t)factor * (uint64_t)ir_signed(right)));
        return true;
    default: return false;
    }
}

static void take_apart(struct sum *s, struct ir_value *v, bool is_signed, int64_t factor)
{
    if (++s->steps > MOST_STEPS) s->is_too_long = true;
    if (s->is_too_long) return;
    if (ir_is_constant(v)) {
        uint64_t number = is_signed || v->type == IR_I64 ? (uint64_t)ir_signed(v) : v->bits;
        s->constant += (uint64_t)factor * number;
        return;
    }
    bool is_base =
        v->op == IR_SYMBOL || v->op == IR_SLOT || (v->op == IR_PARAMETER && v->is_pointer);
    if (is_base && factor == 1 && !s->base) {
        s->base = v;
        return;
    }
    struct ir_value *inner = ir_operand(v, 0);
    if (v->op == IR_CONVERT && v->type == IR_I64 && inner->type == IR_I32) {
        take_apart(s, inner, v->is_signed, factor);
        return;
    }
    if (v->op == IR_CONVERT && s->is_narrow && inner->type == IR_I64) {
        take_apart(s, inner, v->is_signed, factor);
        return;
    }
    if (!take_operation(s, v, is_signed, factor)) add_term(s, v, is_signed, factor);
}

/* ---- the space ------------------------------------------------------------------------------- */

static enum ir_space space_of_symbol(const struct symbol *symbol)
{
    switch (symbol->kind) {
    case SYMBOL_SHARED:
    case SYMBOL_SHARED_DYNAMIC: return IR_SHARED;
    case SYMBOL_CONSTANT: return IR_CONST;
    default: return IR_GLOBAL;
    }
}

/* What two ways to a pointer have in common; a way that leads back to itself says nothing. */
enum { SPACE_OPEN = -1 };
static int common_space(int a, int b)
{
    if (a == SPACE_OPEN) return b;
    return b == SPACE_OPEN || a == b ? a : IR_GENERIC;
}

static int space_within(struct ir_value *v, int *steps)
{
    if (++*steps > MOST_STEPS) return IR_GENERIC;
    switch (v->op) {
    case IR_SYMBOL: return space_of_symbol(v->symbol);
    case IR_SLOT: return IR_LOCAL;
    case IR_TEXT: return IR_GLOBAL;
    case IR_PARAMETER: return v->is_pointer ? IR_GLOBAL : IR_GENERIC;
    case IR_ADD: {
        int left = space_within(ir_operand(v, 0), steps);
        return left != IR_GENERIC ? left : space_within(ir_operand(v, 1), steps);
    }
    case IR_SELECT:
        return common_space(space_within(ir_operand(v, 1), steps),
                            space_within(ir_operand(v, 2), steps));
    case IR_PHI: {
        if (v->scratch == v) return SPACE_OPEN;
        v->scratch = v;
        int space = SPACE_OPEN;
        for (int k = 0; k < v->block->before_count; k++)
            space = common_space(space, space_within(ir_resolve(v->incoming[k]), steps));
        v->scratch = NULL;
        return space;
    }
    default: return IR_GENERIC;
    }
}

static int find_space(struct ir_value *v)
{
    int steps = 0;
    int space = space_within(v, &steps);
    return space == SPACE_OPEN || steps > MOST_STEPS ? IR_GENERIC : space;
}

/* ---- putting together ------------------------------------------------------------------------ */

static struct ir_value *insert_new(struct ir_function *f, struct ir_value *at, struct ir_value *v)
{
    ir_insert(at->block, at, v);
    struct ir_value *folded = ir_folded(f, v);
    if (folded) ir_replace(v, folded);
    return ir_resolve(v);
}

static struct ir_value *operation(struct ir_function *f, struct ir_value *at, enum ir_op op,
                                  enum ir_type type, struct ir_value *left, struct ir_value *right)
{
    struct ir_value *v = ir_value_new(f, op, type, at->place);
    v->operand[0] = left;
    v->operand[1] = right;
    v->no_overflow = type == IR_I64;
    return insert_new(f, at, v);
}

static struct ir_value *base_in_space(struct ir_function *f, struct ir_value *at, struct sum *s,
                                      enum ir_space space)
{
    bool is_named = s->base->op == IR_SYMBOL || s->base->op == IR_SLOT;
    struct ir_value *v = ir_value_new(f, is_named ? s->base->op : IR_TO_SPACE,
                                      s->is_narrow ? IR_I32 : IR_I64, at->place);
    v->space = space;
    v->symbol = s->base->symbol;
    v->bits = is_named ? s->base->bits : 0;
    if (!is_named) v->operand[0] = s->base;
    return insert_new(f, at, v);
}

static struct ir_value *term_value(struct ir_function *f, struct ir_value *at, struct sum *s,
                                   const struct term *t)
{
    enum ir_type type = s->is_narrow ? IR_I32 : IR_I64;
    struct ir_value *v = t->value;
    if (v->type != type) {
        struct ir_value *convert = ir_value_new(f, IR_CONVERT, type, at->place);
        convert->operand[0] = v;
        convert->is_signed = t->is_signed;
        v = insert_new(f, at, convert);
    }
    struct ir_value *factor = ir_constant(f, type, (uint64_t)t->factor);
    return operation(f, at, IR_MULTIPLY, type, v, factor);
}

static void put_together(struct ir_function *f, struct ir_value *access, struct sum *s,
                         enum ir_space space)
{
    enum ir_type type = s->is_narrow ? IR_I32 : IR_I64;
    struct ir_value *address = base_in_space(f, access, s, space);
    for (int k = 0; k < s->count; k++) {
        int next = k; // terms in the order of their ids, so that sums of the same terms are equal
        for (int j = k + 1; j < s->count; j++)
            if (s->terms[j].value->id < s->terms[next].value->id) next = j;
        struct term term = s->terms[next];
        s->terms[next] = s->terms[k];
        s->terms[k] = term;
        if (s->is_narrow ? (int32_t)term.factor == 0 : term.factor == 0) continue;
        struct ir_value *v = term_value(f, access, s, &term);
        address = operation(f, access, IR_ADD, type, address, v);
    }
    int64_t constant = s->is_narrow ? (int32_t)s->constant : (int64_t)s->constant;
    if (constant == (int32_t)constant) {
        access->offset += constant;
    } else {
        struct ir_value *v = ir_constant(f, type, s->constant);
        address = operation(f, access, IR_ADD, type, address, v);
    }
    access->operand[0] = address;
    access->space = space;
}

/* An address whose base is not known: a pointer that changes in a loop, or comes from memory. */
static void take_whole(struct ir_function *f, struct ir_value *access, enum ir_space space)
{
    access->space = space;
    if (space == IR_GENERIC) return;
    struct sum s = {.base = ir_operand(access, 0)};
    put_together(f, access, &s, space);
}

static void find_address(struct ir_function *f, struct ir_value *access)
{
    struct ir_value *address = ir_operand(access, 0);
    int space = find_space(address);
    struct sum s = {.is_narrow = space == IR_SHARED};
    take_apart(&s, address, true, 1);
    // A pointer without a name: the one term that points.
    for (int k = 0; k < s.count && !s.base && !s.is_narrow; k++) {
        struct term *t = &s.terms[k];
        if (t->factor != 1 || t->value->type != IR_I64) continue;
        if (find_space(t->value) != space || space == IR_GENERIC) continue;
        s.base = t->value;
        *t = s.terms[--s.count];
    }
    bool is_other =
        s.base && s.base->op != IR_PHI && s.base->op != IR_SELECT && find_space(s.base) != space;
    if (!s.base || s.is_too_long || is_other || space == IR_GENERIC)
        take_whole(f, access, (enum ir_space)space);
    else
        put_together(f, access, &s, (enum ir_space)space);
}

void pass_addresses(struct ir_function *f)
{
    f->id_count = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            v->id = ++f->id_count, v->scratch = NULL;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (ir_is_access(v)) find_address(f, v);
}

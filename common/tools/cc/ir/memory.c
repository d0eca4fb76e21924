/*
 * memory.c — what memory holds: addresses, loads that are known, stores that nothing reads.
 */
#include "ir.h"
#include "lower.h"

/* ---- addresses ------------------------------------------------------------------------------- */

/*
 * Which memory does an access touch, and where? Each address becomes the sum of a base,
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

/* (64 * t + 31) >> 5 is 2 * t, if nothing overflows. nvcc knows it of multiples of 32, and of one
 * less, so that its loads are told apart from stores by it there alone. */
static bool take_shift(struct sum *s, struct ir_value *v, int64_t factor)
{
    struct ir_value *by = ir_operand(v, 1);
    if (v->type != IR_I32 || !v->is_signed || !ir_is_constant(by) || by->bits >= 32) return false;
    struct sum shifted = {.steps = s->steps};
    int64_t unit = (int64_t)1 << by->bits;
    take_apart(&shifted, ir_operand(v, 0), true, 1);
    if (shifted.is_too_long || shifted.base) return false;
    if ((shifted.constant & (uint64_t)(unit - 1)) != 0 && (shifted.constant + 1) % (uint64_t)unit)
        return false;
    for (int k = 0; k < shifted.count; k++)
        if (shifted.terms[k].factor % unit) return false;
    for (int k = 0; k < shifted.count; k++) {
        struct term *t = &shifted.terms[k];
        add_term(s, t->value, t->is_signed, factor * (t->factor / unit));
    }
    s->constant += (uint64_t)(factor * ((int64_t)shifted.constant >> by->bits));
    return true;
}

/* A sum or product with a constant, if it may be taken apart. */
static bool take_operation(struct sum *s, struct ir_value *v, bool is_signed, int64_t factor)
{
    bool is_exact = s->is_narrow || v->type == IR_I64 || (v->no_overflow && is_signed);
    if (!is_exact) return false;
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    switch (v->op) {
    case IR_SHIFT_RIGHT: return take_shift(s, v, factor);
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
    case IR_SYMBOL: return ir_space_of(v->symbol);
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

static struct ir_value *operation(struct ir_function *f, struct ir_value *at, enum ir_op op,
                                  enum ir_type type, struct ir_value *left, struct ir_value *right)
{
    struct ir_value *v = ir_value_new(f, op, type, at->place);
    v->operand[0] = left;
    v->operand[1] = right;
    v->no_overflow = type == IR_I64;
    return ir_build_before(f, at, v);
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
    return ir_build_before(f, at, v);
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
        v = ir_build_before(f, at, convert);
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

/* An atomic operation on shared or global memory; elsewhere its address stays generic. */
static bool has_named_place(struct ir_value *v)
{
    if (v->op != IR_PTX || !v->ptx->has_place) return false;
    int space = find_space(ir_operand(v, 0));
    return space == IR_SHARED || space == IR_GLOBAL;
}

void pass_addresses(struct ir_function *f)
{
    f->id_count = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            v->id = ++f->id_count, v->scratch = NULL;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (ir_is_access(v) || has_named_place(v)) find_address(f, v);
}

/* ---- may two accesses touch the same bytes? If not, one may be moved across the other -------- */

/*
 * Shared, global, local and constant memory are apart; so are two shared arrays, but for dynamic
 * ones, which all begin at the same place. Two pointers of the kernel may point to the same array,
 * whatever their types are: nvcc makes nothing of types either. Two sums with equal bases and terms
 * differ by their constants.
 */

bool same_address(struct ir_value *a, struct ir_value *b)
{
    return a->space == b->space && ir_operand(a, 0) == ir_operand(b, 0) && a->offset == b->offset;
}

/* The symbol or slot at the bottom of a sum, or NULL. Sums begin with their base. */
static struct ir_value *base_of(struct ir_value *access)
{
    struct ir_value *v = ir_base(ir_operand(access, 0));
    bool is_name = v->op == IR_SYMBOL || v->op == IR_SLOT;
    return is_name && v->space != IR_GENERIC ? v : NULL;
}

static bool is_dynamic(const struct ir_value *base)
{
    return base->op == IR_SYMBOL && base->symbol->kind == SYMBOL_SHARED_DYNAMIC;
}

static bool has_other_base(struct ir_value *a, struct ir_value *b)
{
    struct ir_value *base_a = base_of(a), *base_b = base_of(b);
    if (!base_a || !base_b || (is_dynamic(base_a) && is_dynamic(base_b))) return false;
    return base_a->op != base_b->op || base_a->symbol != base_b->symbol ||
           base_a->bits != base_b->bits;
}

static bool may_overlap(struct ir_value *a, struct ir_value *b)
{
    if (a->space == IR_CONST || b->space == IR_CONST) return false;
    if (a->space != b->space) return a->space == IR_GENERIC || b->space == IR_GENERIC;
    if (ir_operand(a, 0) == ir_operand(b, 0))
        return a->offset < b->offset + ir_bytes(b) && b->offset < a->offset + ir_bytes(a);
    return !has_other_base(a, b);
}

/* Local memory that only this thread's loads and stores touch: its address is used for nothing
 * else. */
static bool is_private(struct ir_function *f, struct ir_value *access)
{
    struct ir_value *base = access->space == IR_LOCAL ? base_of(access) : NULL;
    return base && base->op == IR_SLOT && !f->slots[base->bits].is_known_elsewhere;
}

bool may_change(struct ir_function *f, struct ir_value *value, struct ir_value *access)
{
    switch (value->op) {
    case IR_STORE: return may_overlap(value, access);
    case IR_BARRIER:
    case IR_PRINTF: return access->space != IR_CONST && !is_private(f, access);
    case IR_PTX:
        if (value->ptx->effect == PTX_PLACE) return may_overlap(value, access);
        return value->ptx->effect == PTX_MEMORY && access->space != IR_CONST &&
               !is_private(f, access);
    default: return false;
    }
}

bool may_touch(struct ir_function *f, struct ir_value *value, struct ir_value *access)
{
    bool reads = value->op == IR_LOAD || (value->op == IR_PTX && value->ptx->has_place);
    if (reads) return may_overlap(value, access);
    return may_change(f, value, access);
}

/* ---- is it known what this load will find? --------------------------------------------------- */

/*
 * It is if on every path here, the same address was loaded or stored, and nothing has changed it
 * since.
 *
 *     x = temp[i]; y = temp[i];              y = x
 *     if (c) p[i] = a; else p[i] = b;        x = phi(a, b)
 *     x = p[i];
 *
 * A barrier changes everything that other threads reach: no load gets its value from above one.
 */

enum { MOST_LOADS = 1000, LONGEST_BLOCK = 100 };

/* One question: the load, and what the walk has found. */
struct search {
    struct ir_function *f;
    struct ir_value *load;
    int steps, mark;
};

enum knowledge { KNOWN, CHANGED, UNTOUCHED };

static bool gives_value(struct ir_value *v, struct ir_value *load)
{
    if (v->parts != 1 || v->bytes != load->bytes || !same_address(v, load)) return false;
    if (v->op == IR_LOAD) return v->type == load->type && v->is_signed == load->is_signed;
    // A stored char is not the int that a load makes of it.
    return v->op == IR_STORE && v->bytes >= 4 && ir_operand(v, 1)->type == load->type;
}

/* Backwards from `v` to the beginning of its block. */
static enum knowledge look_up(struct search *s, struct ir_value *v, struct ir_value **value)
{
    for (int count = 0; v; v = v->prev) {
        if (++s->steps > MOST_LOADS || ++count > LONGEST_BLOCK) return CHANGED;
        if (ir_is_access(v) && gives_value(v, s->load)) {
            *value = v->op == IR_LOAD ? v : ir_operand(v, 1);
            return KNOWN;
        }
        if (may_change(s->f, v, s->load)) return CHANGED;
    }
    return UNTOUCHED;
}

/* Does every path to the beginning of `block` know the value? Where it does, the block notes it. */
static bool is_known_above(struct search *s, struct ir_block *block)
{
    struct ir_value *address = ir_operand(s->load, 0);
    if (block->before_count == 0 || address->block == block) return false;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_block *before = block->before[k];
        struct ir_value *value;
        if (++s->steps > MOST_LOADS) return false;
        if (before->mark == s->mark) continue;
        before->mark = s->mark;
        before->variables = NULL;
        before->is_sealed = true;
        switch (look_up(s, before->last, &value)) {
        case CHANGED: return false;
        case KNOWN: variable_note(s->f, before, s->load, value); break;
        case UNTOUCHED:
            if (!is_known_above(s, before)) return false;
        }
    }
    return true;
}

static struct ir_value *find_value(struct search *s)
{
    struct ir_value *load = s->load, *value;
    struct ir_block *block = load->block;
    enum knowledge found = load->prev ? look_up(s, load->prev, &value) : UNTOUCHED;
    if (found != UNTOUCHED) return found == KNOWN ? value : NULL;
    block->variables = NULL;
    block->is_sealed = true;
    if (!is_known_above(s, block)) return NULL;
    // The block itself may be one of those above, in a loop: then it knows its own value.
    struct lower l = {.f = s->f, .block = block, .place = load->place};
    return variable_read_above(&l, load, load->type);
}

void pass_loads(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = 0;
    int mark = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op != IR_LOAD || v->parts != 1) continue;
            struct search s = {.f = f, .load = v, .mark = ++mark};
            struct ir_value *value = find_value(&s);
            if (value && value != v) ir_replace(v, value);
        }
    phis_simplify(f);
}

/* ---- does anything use this value, or read what this store wrote? ---------------------------- */

/*
 *     x = temp[i];               (nothing, if x is not used)
 *     p[0] = 1; p[0] = 2;        p[0] = 2
 */

struct work {
    struct ir_function *f;
    struct ir_value **waiting;
    int count;
};

static void need(struct work *w, struct ir_value *v)
{
    if (!v || (v = ir_resolve(v))->uses || ir_is_constant(v)) return;
    v->uses = 1;
    w->waiting = cc_grow(w->f->arena, w->waiting, w->count, sizeof *w->waiting);
    w->waiting[w->count++] = v;
}

static void need_operands(struct work *w, struct ir_value *v)
{
    for (int k = 0; k < IR_OPERANDS; k++) need(w, v->operand[k]);
    for (int k = 0; v->op == IR_PHI && k < v->block->before_count; k++) need(w, v->incoming[k]);
}

static void drop_values(struct ir_function *f)
{
    struct work w = {.f = f};
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = 0;
    for (int b = 0; b < f->block_count; b++) {
        need(&w, f->order[b]->condition);
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (ir_has_effect(v)) need(&w, v);
        while (w.count) need_operands(&w, w.waiting[--w.count]);
    }
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (!v->uses) ir_unlink(v);
        }
}

/* ---- stores ---------------------------------------------------------------------------------- */

enum { LONGEST_LOOK = 100 };

/* The store is written over in its block before anything reads it. */
static bool is_written_over(struct ir_function *f, struct ir_value *store)
{
    int count = 0;
    for (struct ir_value *v = store->next; v && ++count < LONGEST_LOOK; v = v->next) {
        bool covers = v->op == IR_STORE && same_address(v, store) && ir_bytes(v) >= ir_bytes(store);
        if (covers) return true;
        if (v->op != IR_STORE && may_touch(f, v, store)) return false;
    }
    return false;
}

/* Slots whose address is used for more than accesses, and those that nothing reads. */
static void look_at_slots(struct ir_function *f)
{
    for (int n = 0; n < f->slot_count; n++) {
        f->slots[n].is_known_elsewhere = false;
        f->slots[n].is_gone = true;
    }
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            if (v->op == IR_SLOT && v->space == IR_GENERIC)
                f->slots[v->bits].is_known_elsewhere = true, f->slots[v->bits].is_gone = false;
            struct ir_value *base = v->op == IR_LOAD ? ir_base(ir_operand(v, 0)) : NULL;
            if (base && base->op == IR_SLOT) f->slots[base->bits].is_gone = false;
        }
}

static bool is_for_nothing(struct ir_function *f, struct ir_value *store)
{
    struct ir_value *base = ir_base(ir_operand(store, 0));
    return base->op == IR_SLOT && f->slots[base->bits].is_gone;
}

void pass_unused(struct ir_function *f)
{
    drop_values(f);
    look_at_slots(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->last, *before; v; v = before) {
            before = v->prev;
            if (v->op != IR_STORE) continue;
            if (is_for_nothing(f, v) || is_written_over(f, v)) ir_unlink(v);
        }
    drop_values(f);
}

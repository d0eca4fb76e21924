/*
 * fuse.c — what ptxas fuses: products and sums as fma, neighbouring accesses as one.
 */
#include "ir.h"

/* ---- neighbouring accesses ------------------------------------------------------------------- */

/*
 * Do two or four accesses touch neighbouring words? Then one access does, if the address
 * is a multiple of its size.
 *
 *     temp[2 * t] = a; temp[2 * t + 1] = b;        st.shared.v2 [temp + 8 * t], {a, b}
 *
 * The array's alignment decides: float *p promises multiples of 4 only, and so does a static shared
 * array of floats, as nvcc declares it; extern __shared__ __align__(16) promises more. Loads move
 * up to the first of them, stores down to the last, within a block, and never across an access that
 * they may touch.
 */

enum { LONGEST_LOOK = 60 };

/* ---- alignment ------------------------------------------------------------------------------- */

static int64_t factor_of(struct ir_value *v)
{
    if (ir_is_constant(v)) return ir_signed(v);
    if (v->op == IR_MULTIPLY && ir_is_constant(ir_operand(v, 1)))
        return ir_signed(v->operand[1]) * factor_of(ir_operand(v, 0));
    return 1;
}

/* The largest power of two, at most 16, that divides the address without its offset. Local memory
 * has the alignment that it needs: nobody else depends on it. */
static int64_t alignment(struct ir_function *f, struct ir_value *address)
{
    int64_t most = 16;
    while (address->op == IR_ADD) {
        int64_t factor = factor_of(ir_operand(address, 1));
        while (factor % most) most /= 2;
        address = ir_operand(address, 0);
    }
    if (address->op == IR_SLOT) {
        struct ir_slot *slot = &f->slots[address->bits];
        if (slot->align < most) slot->align = most;
        return most;
    }
    if (address->op != IR_SYMBOL) return 1;
    return address->symbol->align < most ? address->symbol->align : most;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static bool may_join(struct ir_value *a, struct ir_value *b)
{
    return a->op == b->op && a->space == b->space && ir_operand(a, 0) == ir_operand(b, 0) &&
           a->bytes == b->bytes && a->bytes >= 4 && a->parts == b->parts &&
           ir_accessed(a) == ir_accessed(b);
}

/* The access behind `v` in its block that touches the memory after, or before, that of `v`, and may
 * come to stand where `v` stands (a load), or `v` where that one stands (a store). */
static struct ir_value *find_neighbour(struct ir_function *f, struct ir_value *v)
{
    int64_t size = v->bytes * v->parts, count = 0;
    for (struct ir_value *w = v->next; w && ++count < LONGEST_LOOK; w = w->next) {
        bool is_near =
            may_join(v, w) && (w->offset == v->offset + size || w->offset == v->offset - size);
        int64_t least = is_near && w->offset < v->offset ? w->offset : v->offset;
        if (is_near && 2 * size <= 16 && least % (2 * size) == 0 &&
            alignment(f, v->operand[0]) >= 2 * size) {
            bool is_free = true; // of what stands between, for the one that moves
            for (struct ir_value *x = v->next; x != w && is_free; x = x->next)
                is_free = v->op == IR_LOAD ? !may_change(f, x, w) : !may_touch(f, x, v);
            if (is_free) return w;
        }
        if (w->op != IR_STORE && ir_has_effect(w)) return NULL;
    }
    return NULL;
}

static void join_stores(struct ir_value *first, struct ir_value *last)
{
    bool is_up = first->offset < last->offset;
    struct ir_value *low = is_up ? first : last, *high = is_up ? last : first;
    struct ir_value *values[4];
    int parts = first->parts;
    for (int k = 0; k < parts; k++) {
        values[k] = ir_operand(low, k + 1);
        values[parts + k] = ir_operand(high, k + 1);
    }
    last->offset = low->offset;
    last->parts = (uint8_t)(2 * parts);
    for (int k = 0; k < 2 * parts; k++) last->operand[k + 1] = values[k];
    ir_unlink(first);
}

static void add_part(struct ir_function *f, struct ir_value *load, struct ir_value *after,
                     struct ir_value *old, int number)
{
    struct ir_value *part = ir_value_new(f, IR_PART, load->type, old->place);
    part->operand[0] = load;
    part->bits = (uint64_t)number;
    ir_insert(load->block, after->next, part);
    old->scratch = part;
}

/* The parts of a load: the load itself, or the IR_PARTs behind it. */
static struct ir_value *join_loads(struct ir_function *f, struct ir_value *first,
                                   struct ir_value *second)
{
    bool is_up = first->offset < second->offset;
    struct ir_value *low = is_up ? first : second, *high = is_up ? second : first;
    struct ir_value *load = ir_value_new(f, IR_LOAD, first->type, first->place);
    load->operand[0] = first->operand[0];
    load->space = first->space;
    load->bytes = first->bytes;
    load->is_signed = first->is_signed;
    load->parts = (uint8_t)(2 * first->parts);
    load->offset = low->offset;
    ir_insert(first->block, first, load);
    if (first->parts == 1) {
        add_part(f, load, load, low, 0);
        add_part(f, load, load, high, 1);
        ir_replace(low, low->scratch);
        ir_replace(high, high->scratch);
        return load;
    }
    for (struct ir_value *p = load->next, *next; p; p = next) {
        next = p->next;
        if (p->op != IR_PART || (ir_operand(p, 0) != low && p->operand[0] != high)) continue;
        add_part(f, load, load, p, (int)p->bits + (p->operand[0] == high ? 2 : 0));
        ir_replace(p, p->scratch);
    }
    ir_unlink(first);
    ir_unlink(second);
    return load;
}

static void join_in(struct ir_function *f, struct ir_block *block, int parts)
{
    for (struct ir_value *v = block->first, *next; v; v = next) {
        next = v->next;
        struct ir_value *other = ir_is_access(v) && v->parts == parts ? find_neighbour(f, v) : NULL;
        if (!other) continue;
        if (v->op == IR_STORE)
            join_stores(v, other);
        else
            next = join_loads(f, v, other)->next;
    }
}

void pass_pairs(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++)
        for (int parts = 1; parts <= 2; parts++) join_in(f, f->order[b], parts);
}

/* ---- products and sums ----------------------------------------------------------------------- */

/*
 * Which products and sums become one fma? Its result is rounded once, not twice, so it should be
 * those that nvcc chooses, or results differ in their last bit.
 *
 *     a * b + c → fma(a, b, c)        a * b - c stays: nvcc leaves it to ptxas
 *
 * nvcc fuses a product into the sums that use it if all its uses are sums, at most four, in the
 * block of the product.
 */

enum { MOST_SUMS = 4 };

/* How often values are used: all of it in `uses`, by what is no sum of their block in `id`. */
static void count_uses(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->id = v->uses;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            for (int k = 0; v->op == IR_ADD && k < 2; k++)
                if (ir_operand(v, k)->block == v->block) v->operand[k]->id--;
}

static bool is_fusible(const struct ir_value *v, const struct ir_value *sum)
{
    return v->op == IR_MULTIPLY && v->block == sum->block && v->id == 0 && v->uses <= MOST_SUMS;
}

static void fuse(struct ir_value *sum)
{
    struct ir_value *left = ir_operand(sum, 0), *right = ir_operand(sum, 1);
    struct ir_value *product = is_fusible(left, sum) ? left : is_fusible(right, sum) ? right : NULL;
    if (!product) return;
    sum->op = IR_FMA;
    sum->operand[0] = ir_operand(product, 0);
    sum->operand[1] = ir_operand(product, 1);
    sum->operand[2] = product == left ? right : left;
    sum->operand[2]->id++;
}

void pass_fuse(struct ir_function *f)
{
    count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->last; v; v = v->prev)
            if (v->op == IR_ADD && ir_is_real(v->type)) fuse(v);
}

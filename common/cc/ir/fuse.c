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

static enum ir_type value_type(struct ir_value *access)
{
    return access->op == IR_LOAD ? access->type : ir_operand(access, 1)->type;
}

static bool may_join(struct ir_value *a, struct ir_value *b)
{
    return a->op == b->op && a->space == b->space && ir_operand(a, 0) == ir_operand(b, 0) &&
           a->bytes == b->bytes && a->bytes >= 4 && a->parts == b->parts &&
           value_type(a) == value_type(b);
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
        if (w->op == IR_BARRIER || w->op == IR_PRINTF) return NULL;
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
 * Which products and sums become one fma? Its result is rounded once, not twice, so it
 * must be those that nvcc chooses, or results differ in their last bit.
 *
 *     a * b + c → fma(a, b, c)        a * b - c stays: nvcc leaves it to ptxas
 *
 * nvcc fuses a product into the sums that use it if all its uses are sums, at most four, in the
 * block of the product. It goes through a block from its end, and a difference becomes a sum on the
 * way if the minus costs nothing: c - a * 2 → c + a * -2. So does this pass, and it keeps count of
 * uses as they change. Of constants, only the uses in one block count.
 */

enum { MOST_SUMS = 4, DEEPEST = 6 };

/* ---- uses: all in `uses`, those that are no sum of the block in `id` ------------------------- */

static void add_use(struct ir_value *v, const struct ir_value *user, int change)
{
    bool is_sum = user && user->op == IR_ADD && user->block == v->block;
    v->uses += change;
    if (!is_sum) v->id += change;
}

static void add_uses_of(struct ir_value *user, int change)
{
    for (int k = 0; k < IR_OPERANDS && ir_operand(user, k); k++)
        add_use(user->operand[k], user, change);
}

/* Nothing uses the value: nor does it use its operands. */
static bool drop_unused(struct ir_value *v)
{
    if (v->uses > 0 || !v->block || !ir_is_pure(v)) return false;
    add_uses_of(v, -1);
    ir_unlink(v);
    return true;
}

static void count_uses(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = v->id = 0;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        if (block->condition) add_use(block->condition = ir_resolve(block->condition), NULL, 1);
        for (struct ir_value *v = block->first; v; v = v->next) {
            add_uses_of(v, 1);
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                add_use(v->incoming[k] = ir_resolve(v->incoming[k]), NULL, 1);
        }
    }
}

/* How often the block uses each constant, also for the phis behind it. */
static void count_constants(struct ir_block *block)
{
    for (int sets = 0; sets < 2; sets++) {
        for (struct ir_value *v = block->first; v; v = v->next)
            for (int k = 0; v->op != IR_PHI && k < IR_OPERANDS && ir_operand(v, k); k++)
                if (ir_is_constant(v->operand[k]))
                    v->operand[k]->uses = sets ? v->operand[k]->uses + 1 : 0;
    }
}

/* ---- products and sums ----------------------------------------------------------------------- */

static bool is_fusible(const struct ir_value *v, const struct ir_value *sum)
{
    return v->op == IR_MULTIPLY && v->block == sum->block && v->id == 0 && v->uses <= MOST_SUMS;
}

static void fuse(struct ir_value *sum)
{
    struct ir_value *left = ir_operand(sum, 0), *right = ir_operand(sum, 1);
    struct ir_value *product = is_fusible(left, sum) ? left : is_fusible(right, sum) ? right : NULL;
    if (!product) return;
    add_uses_of(sum, -1);
    sum->op = IR_FMA;
    sum->operand[0] = ir_operand(product, 0);
    sum->operand[1] = ir_operand(product, 1);
    sum->operand[2] = product == left ? right : left;
    add_uses_of(sum, 1);
    drop_unused(product);
}

/* ---- a minus that costs nothing -------------------------------------------------------------- */

/* A product with a constant, or with a negated value, that nothing else in the block uses. */
static bool has_free_minus(struct ir_function *f, struct ir_value *v, const struct ir_block *block,
                           int depth)
{
    bool is_here = ir_is_constant(v) || v->block == block;
    if (v->op == IR_NEGATE && is_here) return true;
    if (v->uses != 1 || depth > DEEPEST || !is_here) return false;
    if (ir_is_constant(v)) return true;
    if (v->op != IR_MULTIPLY && v->op != IR_DIVIDE) return false;
    if (has_free_minus(f, ir_operand(v, 0), block, depth + 1)) return true;
    // nvcc writes x * 2 as x + x.
    if (v->op == IR_MULTIPLY && ir_operand(v, 1) == ir_float(f, v->type, 2)) return false;
    return has_free_minus(f, ir_operand(v, 1), block, depth + 1);
}

/* a + -b → a - b */
static void subtract_instead(struct ir_value *sum)
{
    int n = ir_operand(sum, 1)->op == IR_NEGATE ? 1 : 0;
    struct ir_value *negated = ir_operand(sum, n);
    if (negated->op != IR_NEGATE || negated->block != sum->block) return;
    add_uses_of(sum, -1);
    sum->op = IR_SUBTRACT;
    sum->operand[0] = sum->operand[1 - n];
    sum->operand[1] = ir_operand(negated, 0);
    add_uses_of(sum, 1);
    drop_unused(negated);
}

static void negate(struct ir_function *f, struct ir_value *user, int n, int depth)
{
    struct ir_value *v = ir_operand(user, n), *opposite = v;
    if (v->op == IR_NEGATE)
        opposite = ir_operand(v, 0);
    else if (ir_is_constant(v))
        opposite = ir_float(f, v->type, -ir_real(v));
    else
        negate(f, v, !has_free_minus(f, ir_operand(v, 0), v->block, depth + 1), depth + 1);
    if (opposite == v) return;
    add_use(v, user, -1);
    user->operand[n] = opposite;
    add_use(opposite, user, 1);
    if (v->op == IR_NEGATE) drop_unused(v);
}

/* c - a * (b * 2) → c + a * (b * -2), and -(a * 2) → a * -2. */
static void lose_minus(struct ir_function *f, struct ir_value *v)
{
    int n = v->op == IR_SUBTRACT;
    struct ir_value *last = ir_operand(v, n);
    if (ir_is_constant(last) || !has_free_minus(f, last, v->block, 0)) return;
    negate(f, v, n, 0);
    if (v->op == IR_NEGATE) {
        last = ir_operand(v, 0);
        last->uses += v->uses;
        last->id += v->id;
        add_uses_of(v, -1);
        ir_replace(v, last);
    } else {
        add_uses_of(v, -1);
        v->op = IR_ADD;
        add_uses_of(v, 1);
    }
}

/* ---- doubles that a float holds -------------------------------------------------------------- */

/* A float as which the double was extended, or a constant that is one; NULL: neither. */
static struct ir_value *as_float(struct ir_function *f, struct ir_value *v)
{
    if (v->op == IR_CONVERT && ir_operand(v, 0)->type == IR_F32) return v->operand[0];
    if (!ir_is_constant(v) || (double)(float)ir_real(v) != ir_real(v)) return NULL;
    return ir_float(f, IR_F32, ir_real(v));
}

/* (float)((double)a + 2.0) → a + 2.0f: rounding twice gives the same. */
static void narrow(struct ir_function *f, struct ir_value *convert)
{
    struct ir_value *wide = ir_operand(convert, 0);
    if (convert->type != IR_F32 || wide->type != IR_F64 || wide->uses != 1) return;
    if (wide->op < IR_ADD || wide->op > IR_DIVIDE) return;
    struct ir_value *left = as_float(f, ir_operand(wide, 0)), *right;
    right = as_float(f, ir_operand(wide, 1));
    if (!left || !right) return;
    struct ir_value *narrowed = ir_value_new(f, wide->op, IR_F32, wide->place);
    narrowed->operand[0] = left;
    narrowed->operand[1] = right;
    ir_insert(convert->block, convert, narrowed);
    ir_replace(convert, narrowed);
}

void pass_fuse(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op == IR_CONVERT) narrow(f, v);
        }
    pass_same_values(f);
    pass_unused(f);
    count_uses(f);
    for (int b = 0; b < f->block_count; b++) {
        count_constants(f->order[b]);
        for (struct ir_value *v = f->order[b]->last, *before; v; v = before) {
            before = v->prev;
            if (drop_unused(v) || !ir_is_real(v->type)) continue;
            if (v->op == IR_ADD) subtract_instead(v);
            if (v->op == IR_SUBTRACT || v->op == IR_NEGATE) lose_minus(f, v);
            if (v->op == IR_ADD && v->block) subtract_instead(v);
            if (v->op == IR_ADD && v->block) fuse(v);
            before = v->block ? v->prev : before;
        }
    }
    pass_same_values(f);
}

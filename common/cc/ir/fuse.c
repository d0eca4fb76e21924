/*
 * fuse.c — which products and sums become one fma? Its result is rounded once, not twice, so it
 * must be those that nvcc chooses, or results differ in their last bit.
 *
 *     a * b + c → fma(a, b, c)        a * b - c stays: nvcc leaves it to ptxas
 *
 * nvcc fuses a product into the sums that use it if all its uses are sums, at most four, in the
 * block of the product (a product that only one other block uses is moved there before).
 */
#include "passes.h"
#include <math.h>

enum { MOST_SUMS = 4 };

static bool is_real(enum ir_type type) { return type == IR_F32 || type == IR_F64; }

/* ---- where products are used ----------------------------------------------------------------- */

/* For each product: its uses, in `uses`; -1: one of them is no sum, or is in another block. */
static void note_use(struct ir_value *product, struct ir_value *user)
{
    if (product->op != IR_MULTIPLY || !is_real(product->type) || product->uses < 0) return;
    bool is_sum = user->op == IR_ADD && user->block == product->block;
    product->uses = is_sum ? product->uses + 1 : -1;
}

static void note_uses(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++) note_use(v->operand[k], v);
            for (int k = 0; v->op == IR_PHI && k < v->block->before_count; k++)
                note_use(v->incoming[k] = ir_resolve(v->incoming[k]), v);
        }
}

static bool is_fusible(const struct ir_value *v)
{
    return v->op == IR_MULTIPLY && is_real(v->type) && v->uses > 0 && v->uses <= MOST_SUMS;
}

static void fuse(struct ir_function *f, struct ir_value *sum)
{
    struct ir_value *left = ir_operand(sum, 0), *right = ir_operand(sum, 1);
    struct ir_value *product = is_fusible(left) ? left : is_fusible(right) ? right : NULL;
    if (!product) return;
    struct ir_value *fused = ir_value_new(f, IR_FMA, sum->type, sum->place);
    fused->operand[0] = ir_operand(product, 0);
    fused->operand[1] = ir_operand(product, 1);
    fused->operand[2] = product == left ? right : left;
    ir_insert(sum->block, sum, fused);
    ir_replace(sum, fused);
}

/* ---- a minus that costs nothing -------------------------------------------------------------- */

enum { DEEPEST = 6 };

/* A product with a constant, or with a negated value, that nothing else in the block uses. */
static bool has_free_minus(struct ir_function *f, struct ir_value *v, const struct ir_block *block,
                           int depth)
{
    if (v->op == IR_NEGATE) return true;
    if (v->uses != 1 || depth > DEEPEST) return false;
    if (ir_is_constant(v)) return true;
    if ((v->op != IR_MULTIPLY && v->op != IR_DIVIDE) || v->block != block) return false;
    if (has_free_minus(f, ir_operand(v, 0), block, depth + 1)) return true;
    // nvcc writes x * 2 as x + x.
    if (v->op == IR_MULTIPLY && ir_operand(v, 1) == ir_float(f, v->type, 2)) return false;
    return has_free_minus(f, ir_operand(v, 1), block, depth + 1);
}

static struct ir_value *minus(struct ir_function *f, struct ir_value *v,
                              const struct ir_block *block)
{
    if (v->op == IR_NEGATE) return ir_operand(v, 0);
    if (ir_is_constant(v)) {
        struct ir_value *opposite = ir_float(f, v->type, -ir_real(v));
        v->uses--;
        opposite->uses++;
        return opposite;
    }
    int n = has_free_minus(f, ir_operand(v, 0), block, 1) ? 0 : 1;
    struct ir_value *product = ir_value_new(f, v->op, v->type, v->place);
    product->operand[n] = minus(f, ir_operand(v, n), block);
    product->operand[1 - n] = ir_operand(v, 1 - n);
    product->uses = 1;
    ir_insert(v->block, v, product);
    return product;
}

/* c - a * (b * 2) → c + a * (b * -2), which can be fused. */
static void add_instead(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *right = ir_operand(v, 1);
    if (!is_real(v->type) || ir_is_constant(right)) return;
    if (!has_free_minus(f, right, v->block, 0)) return;
    struct ir_value *sum = ir_value_new(f, IR_ADD, v->type, v->place);
    sum->operand[0] = ir_operand(v, 0);
    sum->operand[1] = minus(f, right, v->block);
    sum->uses = v->uses;
    ir_insert(v->block, v, sum);
    ir_replace(v, sum);
}

/* How often the block uses each constant. */
static void count_constants(struct ir_block *block)
{
    for (int sets = 0; sets < 2; sets++)
        for (struct ir_value *v = block->first; v; v = v->next)
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
                if (ir_is_constant(v->operand[k]))
                    v->operand[k]->uses = sets ? v->operand[k]->uses + 1 : 0;
}

/* ---- the order of operands ------------------------------------------------------------------- */

/* LLVM's rank: values that stay where they are have one in the order of the text, others one more
 * than their operands. Of a sum, the operand of the lower rank stands first, and is fused first. */
static int rank_of(const struct ir_value *v) { return ir_is_constant(v) ? 0 : v->id; }

static void give_rank(struct ir_value *v, int *next)
{
    bool stays = !ir_is_pure(v) || v->op == IR_SPECIAL;
    v->id = stays ? ++*next : (int)v->bits + 1;
    int more = v->op != IR_NEGATE && v->op != IR_COMPLEMENT;
    for (int k = 0; !stays && k < IR_OPERANDS && ir_operand(v, k); k++)
        if (v->id < rank_of(v->operand[k]) + more) v->id = rank_of(v->operand[k]) + more;
}

static void swap_operands(struct ir_value *v)
{
    struct ir_value *left = v->operand[0];
    v->operand[0] = v->operand[1];
    v->operand[1] = left;
}

/* The sign of a negative constant factor, or divisor, becomes that of a sum:
 * x + y * -2 → x - y * 2. `scratch` is what uses the product. */
static void move_sign(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *user = v->scratch;
    if (v->uses != 1 || !user || (v->op != IR_MULTIPLY && v->op != IR_DIVIDE)) return;
    int n = ir_is_constant(ir_operand(v, 0)) ? 0 : 1;
    struct ir_value *constant = ir_operand(v, n);
    if (!ir_is_constant(constant) || !signbit(ir_real(constant))) return;
    bool is_second = ir_operand(user, 1) == v;
    if (user->op != IR_ADD && (user->op != IR_SUBTRACT || !is_second)) return;
    v->operand[n] = ir_float(f, v->type, -ir_real(constant));
    if (!is_second) swap_operands(user);
    user->op = user->op == IR_ADD ? IR_SUBTRACT : IR_ADD;
}

void pass_operands(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->scratch = NULL;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++) v->operand[k]->scratch = v;
    for (int b = 0; b < f->block_count; b++) {
        int next = (b + 1) << 16;
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            give_rank(v, &next);
            if (!is_real(v->type)) continue;
            move_sign(f, v);
            bool is_swapped = v->op == IR_ADD && !ir_is_constant(ir_operand(v, 1)) &&
                              rank_of(ir_operand(v, 1)) < rank_of(ir_operand(v, 0));
            if (is_swapped) swap_operands(v);
        }
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
    for (int b = 0; b < f->block_count; b++) {
        count_constants(f->order[b]);
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op == IR_CONVERT) narrow(f, v);
            if (v->op == IR_SUBTRACT) add_instead(f, v);
            if (v->op == IR_NEGATE && is_real(v->type) &&
                has_free_minus(f, ir_operand(v, 0), v->block, 0))
                ir_replace(v, minus(f, v->operand[0], v->block));
        }
    }
    pass_same_values(f);
    pass_unused(f);
    note_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op == IR_ADD && is_real(v->type)) fuse(f, v);
        }
}

/*
 * choices.c — is one side of a choice a constant, with which the next operation computes another
 * one? Then the operation is done on both sides, as LLVM does it.
 *
 *     (c ? x : 2) * 3            c ? x * 3 : 6
 *
 * A choice is a select, or a phi of which one value at most is no constant. Nothing else uses it.
 */
#include "fold.h"
#include "passes.h"

/* The operation on one side: appended to `block`, or before `at` if there is no block. */
static struct ir_value *on_side(struct ir_function *f, struct ir_value *v, int n,
                                struct ir_value *side, struct ir_block *block)
{
    struct ir_value *value = ir_value_new(f, v->op, v->type, v->place);
    for (int k = 0; k < IR_OPERANDS; k++) value->operand[k] = v->operand[k];
    value->operand[n] = side;
    value->is_signed = v->is_signed;
    value->no_overflow = v->no_overflow;
    if (block) return ir_build(f, block, value);
    ir_insert(v->block, v, value);
    struct ir_value *folded = ir_folded(f, value);
    if (folded) ir_replace(value, folded);
    return ir_resolve(value);
}

static bool into_select(struct ir_function *f, struct ir_value *v, int n)
{
    struct ir_value *select = v->operand[n];
    bool has_constant =
        ir_is_constant(ir_operand(select, 1)) || ir_is_constant(ir_operand(select, 2));
    if (select->uses != 1 || !has_constant || select->type == IR_BOOL) return false;
    struct ir_value *choice = ir_value_new(f, IR_SELECT, v->type, v->place);
    choice->operand[0] = ir_operand(select, 0);
    for (int k = 1; k <= 2; k++) choice->operand[k] = on_side(f, v, n, ir_operand(select, k), NULL);
    choice->uses = v->uses;
    ir_insert(v->block, v, choice);
    ir_replace(v, choice);
    return true;
}

static bool into_phi(struct ir_function *f, struct ir_value *v, int n)
{
    struct ir_value *phi = v->operand[n];
    struct ir_block *block = phi->block, *other = NULL;
    if (phi->uses != 1) return false;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_value *value = phi->incoming[k] = ir_resolve(phi->incoming[k]);
        if (ir_is_constant(value)) continue;
        if (value->op == IR_PHI || other) return false;
        other = block->before[k];
        if (other->condition || other->number >= block->number) return false;
    }
    struct ir_value *choice = ir_value_new(f, IR_PHI, v->type, v->place);
    choice->incoming = cc_take(f->arena, block->before_count * sizeof *choice->incoming);
    for (int k = 0; k < block->before_count; k++)
        choice->incoming[k] = on_side(f, v, n, phi->incoming[k], block->before[k]);
    choice->uses = v->uses;
    ir_insert(block, block->first, choice);
    ir_replace(v, choice);
    return true;
}

/* Which operand is no constant; -1: none, or several. */
static int open_operand(struct ir_value *v)
{
    if (v->op == IR_NEGATE || v->op == IR_CONVERT) return 0;
    if (v->op < IR_ADD || v->op > IR_DIVIDE) return -1;
    int n = ir_is_constant(ir_operand(v, 1)) ? 0 : 1;
    return ir_is_constant(ir_operand(v, 1 - n)) ? n : -1;
}

static bool move(struct ir_function *f, struct ir_value *v)
{
    int n = open_operand(v);
    struct ir_value *choice = n < 0 ? NULL : ir_operand(v, n);
    if (choice && choice->op == IR_SELECT) return into_select(f, v, n);
    return choice && choice->op == IR_PHI && n == 0 && v->op != IR_NEGATE && into_phi(f, v, n);
}

/* ---- signs ----------------------------------------------------------------------------------- */

static struct ir_value *binary(struct ir_function *f, struct ir_value *at, enum ir_op op,
                               struct ir_value *left, struct ir_value *right, int uses)
{
    struct ir_value *v = ir_value_new(f, op, at->type, at->place);
    v->operand[0] = left;
    v->operand[1] = right;
    v->uses = uses;
    ir_insert(at->block, at, v);
    return v;
}

/* a - (b - c) → a + (c - b); -x * y → -(x * y) */
static bool move_sign(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = left ? ir_operand(v, 1) : NULL, *inner;
    if (!right || !ir_is_real(v->type)) return false;
    if (v->op == IR_SUBTRACT && right->op == IR_SUBTRACT && right->uses == 1 &&
        fold_is_never_minus_zero(left, 0)) {
        inner = binary(f, v, IR_SUBTRACT, ir_operand(right, 1), ir_operand(right, 0), 1);
        ir_replace(v, binary(f, v, IR_ADD, left, inner, v->uses));
        return true;
    }
    if (v->op == IR_SUBTRACT && right->op == IR_NEGATE) {
        // LLVM's -b is -0.0 - b: with the rule above, b + 0.0.
        inner = ir_operand(right, 0);
        if (right->uses == 1 && fold_is_never_minus_zero(left, 0))
            inner = binary(f, v, IR_ADD, inner, ir_float(f, v->type, 0.0), 1);
        ir_replace(v, binary(f, v, IR_ADD, left, inner, v->uses));
        return true;
    }
    if (v->op != IR_MULTIPLY) return false;
    struct ir_value *minus = left->op == IR_NEGATE && left->uses == 1 ? left : right;
    if (minus->op != IR_NEGATE || minus->uses != 1) return false;
    inner = binary(f, v, IR_MULTIPLY, ir_operand(minus, 0), minus == left ? right : left, 1);
    ir_replace(v, binary(f, v, IR_NEGATE, inner, NULL, v->uses));
    return true;
}

void pass_choices(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (!f->keeps_signs && move_sign(f, v)) continue;
            move(f, v);
        }
}

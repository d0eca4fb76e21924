/*
 * operands.c — in which order do sums have their operands? The first one is fused first (fuse.c),
 * so it must be that of LLVM's pass Reassociate.
 *
 *     b + a → a + b if a is computed before b          a + b * -2 → a - b * 2
 */
#include "passes.h"
#include <math.h>

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
    ir_note_users(f);
    for (int b = 0; b < f->block_count; b++) {
        int next = (b + 1) << 16;
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            give_rank(v, &next);
            if (!ir_is_real(v->type)) continue;
            move_sign(f, v);
            bool is_swapped = v->op == IR_ADD && !ir_is_constant(ir_operand(v, 1)) &&
                              rank_of(ir_operand(v, 1)) < rank_of(ir_operand(v, 0));
            if (is_swapped) swap_operands(v);
        }
    }
}

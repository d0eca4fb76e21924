/*
 * fold.c — values that are known already: constants, simpler ones, ones that were computed before.
 */
#include "ir.h"
#include "lower.h"
#include <math.h>

/* ---- computing with constants, as the GPU would ---------------------------------------------- */

/* Two reals; false: it is not computed here. Floats are rounded once, since double holds the exact
 * result of a sum or product of two floats, or enough of it. */
static bool real_result(enum ir_op op, double a, double b, double *result)
{
    switch (op) {
    case IR_ADD: *result = a + b; return true;
    case IR_SUBTRACT: *result = a - b; return true;
    case IR_MULTIPLY: *result = a * b; return true;
    case IR_DIVIDE: *result = a / b; return true;
    case IR_NEGATE: *result = -a; return true;
    default: return false;
    }
}

static struct ir_value *real_constant(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = v->operand[0], *right = v->operand[1];
    double result;
    if (!real_result(v->op, ir_real(left), right ? ir_real(right) : 0, &result)) return NULL;
    return isnan(result) ? NULL : ir_float(f, v->type, result);
}

static bool compare(enum ir_op op, int order, bool is_unordered)
{
    switch (op) {
    case IR_EQUAL: return !is_unordered && order == 0;
    case IR_NOT_EQUAL: return is_unordered || order != 0;
    case IR_LESS: return !is_unordered && order < 0;
    case IR_LESS_EQUAL: return !is_unordered && order <= 0;
    case IR_GREATER: return !is_unordered && order > 0;
    default: return !is_unordered && order >= 0;
    }
}

static struct ir_value *comparison(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = v->operand[0], *right = v->operand[1];
    if (ir_is_real(left->type)) {
        double a = ir_real(left), b = ir_real(right);
        return ir_constant(f, IR_BOOL, compare(v->op, (a > b) - (a < b), isunordered(a, b)));
    }
    int64_t a = ir_signed(left), b = ir_signed(right);
    int order = (a > b) - (a < b);
    if (!v->is_signed) order = (left->bits > right->bits) - (left->bits < right->bits);
    return ir_constant(f, IR_BOOL, compare(v->op, order, false));
}

/* Division by zero and shifts by more than the width are not computed here. */
static bool divide(const struct ir_value *v, int64_t a, int64_t b, uint64_t *result)
{
    uint64_t left = v->operand[0]->bits, right = v->operand[1]->bits;
    bool gives_rest = v->op == IR_REMAINDER;
    if (b == 0 || (b == -1 && v->is_signed)) return false;
    if (v->is_signed)
        *result = (uint64_t)(gives_rest ? a % b : a / b);
    else
        *result = gives_rest ? left % right : left / right;
    return true;
}

static bool shift(const struct ir_value *v, int64_t a, uint64_t *result)
{
    uint64_t count = v->operand[1]->bits;
    if (count >= (v->type == IR_I32 ? 32u : 64u)) return false;
    if (v->op == IR_SHIFT_LEFT)
        *result = (uint64_t)a << count;
    else
        *result = v->is_signed ? (uint64_t)(a >> count) : v->operand[0]->bits >> count;
    return true;
}

static bool integer_result(const struct ir_value *v, int64_t a, int64_t b, uint64_t *result)
{
    bool is_less =
        v->is_signed || !v->operand[1] ? a < b : v->operand[0]->bits < v->operand[1]->bits;
    switch (v->op) {
    case IR_ADD: *result = (uint64_t)a + (uint64_t)b; return true;
    case IR_SUBTRACT: *result = (uint64_t)a - (uint64_t)b; return true;
    case IR_MULTIPLY: *result = (uint64_t)a * (uint64_t)b; return true;
    case IR_DIVIDE:
    case IR_REMAINDER: return divide(v, a, b, result);
    case IR_AND: *result = (uint64_t)(a & b); return true;
    case IR_OR: *result = (uint64_t)(a | b); return true;
    case IR_XOR: *result = (uint64_t)(a ^ b); return true;
    case IR_SHIFT_LEFT:
    case IR_SHIFT_RIGHT: return shift(v, a, result);
    case IR_MIN: *result = (uint64_t)(is_less ? a : b); return true;
    case IR_MAX: *result = (uint64_t)(is_less ? b : a); return true;
    case IR_ABS: *result = a < 0 ? 0 - (uint64_t)a : (uint64_t)a; return true;
    case IR_NEGATE: *result = 0 - (uint64_t)a; return true;
    case IR_COMPLEMENT: *result = v->type == IR_BOOL ? !a : ~(uint64_t)a; return true;
    default: return false;
    }
}

/* NULL for a real number that the integer type does not hold. */
static struct ir_value *conversion(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *from = v->operand[0];
    if (ir_is_real(from->type)) {
        double real = ir_real(from), most = v->type == IR_I32 ? 0x1p31 : 0x1p63;
        if (ir_is_real(v->type)) return ir_float(f, v->type, real);
        if (!(real > (v->is_signed ? -most : -1) && real < most)) return NULL;
        return ir_constant(f, v->type, (uint64_t)(int64_t)real);
    }
    int64_t integer = v->is_signed ? ir_signed(from) : (int64_t)from->bits;
    if (!ir_is_real(v->type)) return ir_constant(f, v->type, (uint64_t)integer);
    bool is_large = !v->is_signed && integer < 0;
    if (v->type == IR_F64)
        return ir_float(f, IR_F64, is_large ? (double)(uint64_t)integer : (double)integer);
    return ir_float(f, IR_F32, is_large ? (float)(uint64_t)integer : (float)integer);
}

struct ir_value *fold_constants(struct ir_function *f, struct ir_value *v)
{
    if (v->op == IR_SELECT || v->op == IR_FMA || v->op == IR_SQRT) return NULL;
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (!ir_is_constant(v->operand[k])) return NULL;
    if (v->op == IR_CONVERT) return conversion(f, v);
    if (v->op >= IR_EQUAL && v->op <= IR_GREATER_EQUAL) return comparison(f, v);
    if (ir_is_real(v->type)) return real_constant(f, v);
    uint64_t result;
    int64_t a = ir_signed(v->operand[0]), b = v->operand[1] ? ir_signed(v->operand[1]) : 0;
    return integer_result(v, a, b, &result) ? ir_constant(f, v->type, result) : NULL;
}

/* ---- is this value one that is known already, or a simpler one? ------------------------------ */

/*
 * That is asked for each value when it is made, and again when its operands have become simpler.
 *
 *     1 + 2 → 3      x * 1 → x      2 * (3 * x) → 6 * x
 *
 * Real numbers keep their bits: x + 0.0 stays, since it makes 0.0 of -0.0.
 */

static struct ir_value *new_before(struct ir_function *f, struct ir_value *at, enum ir_op op,
                                   struct ir_value *left, struct ir_value *right)
{
    struct ir_value *value = ir_value_new(f, op, at->type, at->place);
    value->operand[0] = left;
    value->operand[1] = right;
    value->is_signed = at->is_signed;
    return ir_build_before(f, at, value);
}

static bool is_integer(const struct ir_value *value, int64_t integer)
{
    return ir_is_constant(value) && !ir_is_real(value->type) && ir_signed(value) == integer;
}

/* A real constant with these bits; -0.0 is not 0.0. */
static bool is_number(struct ir_function *f, const struct ir_value *value, double number)
{
    return ir_is_constant(value) && value == ir_float(f, value->type, number);
}

static struct ir_value *negated_of(struct ir_value *value)
{
    return value->op == IR_NEGATE ? ir_operand(value, 0) : NULL;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* (x + 3) + 4 → x + 7, and so for products. */
static struct ir_value *regrouped(struct ir_function *f, struct ir_value *v, enum ir_op op)
{
    struct ir_value *inner = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (inner->op != op || !ir_is_constant(right) || !ir_is_constant(ir_operand(inner, 1)))
        return NULL;
    int64_t a = ir_signed(inner->operand[1]), b = ir_signed(right);
    uint64_t both = op == IR_ADD ? (uint64_t)a + b : (uint64_t)a * b;
    struct ir_value *value = ir_value_new(f, op, v->type, v->place);
    value->operand[0] = inner->operand[0];
    value->operand[1] = ir_constant(f, v->type, both);
    // Of two sums that do not overflow, the one sum may: 2^31 - 1 and -1, added to 0, do not.
    int64_t exact = op == IR_ADD ? a + b : 0;
    value->no_overflow = v->no_overflow && inner->no_overflow && op == IR_ADD &&
                         v->type == IR_I32 && exact == (int32_t)exact && (a < 0) == (b < 0);
    ir_insert(v->block, v, value);
    return value;
}

static struct ir_value *folded_add(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (is_integer(right, 0)) return left;
    if (negated_of(right)) return new_before(f, v, IR_SUBTRACT, left, negated_of(right));
    return regrouped(f, v, IR_ADD);
}

static struct ir_value *folded_subtract(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (left == right) return ir_constant(f, v->type, 0);
    if (!ir_is_constant(right)) return NULL;
    int64_t least = v->type == IR_I32 ? INT32_MIN : INT64_MIN;
    if (ir_signed(right) == least) return NULL;
    struct ir_value *sum = ir_value_new(f, IR_ADD, v->type, v->place);
    sum->operand[0] = left;
    sum->operand[1] = ir_constant(f, v->type, 0 - (uint64_t)ir_signed(right));
    sum->no_overflow = v->no_overflow;
    sum->is_signed = v->is_signed;
    return ir_build_before(f, v, sum);
}

static int power_of_two(const struct ir_value *v)
{
    if (!ir_is_constant(v) || !v->bits || v->bits & (v->bits - 1)) return -1;
    return __builtin_ctzll(v->bits);
}

static struct ir_value *folded_divide(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    bool gives_rest = v->op == IR_REMAINDER;
    if (is_integer(right, 1)) return gives_rest ? ir_constant(f, v->type, 0) : left;
    int power = power_of_two(right);
    if (v->is_signed || power < 0) return NULL;
    if (gives_rest) return new_before(f, v, IR_AND, left, ir_constant(f, v->type, right->bits - 1));
    return new_before(f, v, IR_SHIFT_RIGHT, left, ir_constant(f, IR_I32, power));
}

/* A shift to the left is a product, so that sums of both are found to be the same. */
static struct ir_value *folded_shift(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    uint64_t width = v->type == IR_I32 ? 32 : 64;
    if (is_integer(right, 0)) return left;
    if (v->op != IR_SHIFT_LEFT || !ir_is_constant(right) || right->bits >= width) return NULL;
    return new_before(f, v, IR_MULTIPLY, left, ir_constant(f, v->type, 1ull << right->bits));
}

static struct ir_value *folded_integer(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    switch (v->op) {
    case IR_ADD: return folded_add(f, v);
    case IR_SUBTRACT: return folded_subtract(f, v);
    case IR_MULTIPLY:
        if (is_integer(right, 0)) return right;
        return is_integer(right, 1) ? left : regrouped(f, v, IR_MULTIPLY);
    case IR_DIVIDE:
    case IR_REMAINDER: return folded_divide(f, v);
    case IR_SHIFT_LEFT:
    case IR_SHIFT_RIGHT: return folded_shift(f, v);
    default: return NULL;
    }
}

/* ---- real numbers ---------------------------------------------------------------------------- */

static struct ir_value *opposite(struct ir_function *f, struct ir_value *constant)
{
    return ir_float(f, constant->type, -ir_real(constant));
}

static struct ir_value *folded_real(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (!right) return NULL;
    struct ir_value *minus_left = negated_of(left), *minus_right = negated_of(right);
    switch (v->op) {
    case IR_ADD:
        if (is_number(f, right, -0.0)) return left;
        if (minus_right) return new_before(f, v, IR_SUBTRACT, left, minus_right);
        return minus_left ? new_before(f, v, IR_SUBTRACT, right, minus_left) : NULL;
    case IR_SUBTRACT:
        if (is_number(f, right, 0.0)) return left;
        if (ir_is_constant(right)) return new_before(f, v, IR_ADD, left, opposite(f, right));
        if (is_number(f, left, -0.0)) return new_before(f, v, IR_NEGATE, right, NULL);
        return NULL;
    case IR_MULTIPLY:
        if (is_number(f, right, 1)) return left;
        return is_number(f, right, -1) ? new_before(f, v, IR_NEGATE, left, NULL) : NULL;
    case IR_DIVIDE: return is_number(f, right, 1) ? left : NULL;
    default: return NULL;
    }
}

/* ---- comparisons, choices, conversions ------------------------------------------------------- */

static struct ir_value *folded_compare(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (ir_is_real(left->type)) return NULL;
    bool is_equal = v->op == IR_EQUAL,
         holds_same = v->op == IR_LESS_EQUAL || v->op == IR_GREATER_EQUAL || is_equal;
    if (left == right) return ir_constant(f, IR_BOOL, holds_same);
    if (!is_equal && v->op != IR_NOT_EQUAL) return NULL;
    // (int)truth != 0, truth == true: the truth itself, or its opposite.
    bool is_truth = left->op == IR_CONVERT && ir_operand(left, 0)->type == IR_BOOL;
    if (left->type == IR_BOOL || is_truth) {
        if (!is_integer(right, 0) && !is_integer(right, 1)) return NULL;
        struct ir_value *truth = is_truth ? left->operand[0] : left;
        bool is_same = is_equal == is_integer(right, 1);
        return is_same ? truth : new_before(f, v, IR_COMPLEMENT, truth, NULL);
    }
    return NULL;
}

static struct ir_value *folded_select(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *truth = ir_operand(v, 0), *left = ir_operand(v, 1), *right = ir_operand(v, 2);
    if (ir_is_constant(truth)) return truth->bits ? left : right;
    if (left == right) return left;
    if (v->type != IR_BOOL) return NULL;
    if (is_integer(left, 1)) return new_before(f, v, IR_OR, truth, right);
    if (is_integer(right, 0)) return new_before(f, v, IR_AND, truth, left);
    struct ir_value *other = new_before(f, v, IR_COMPLEMENT, truth, NULL);
    left = new_before(f, v, IR_AND, truth, left);
    return new_before(f, v, IR_OR, left, new_before(f, v, IR_AND, other, right));
}

static struct ir_value *folded_convert(struct ir_value *v)
{
    struct ir_value *inner = ir_operand(v, 0);
    if (inner->type == v->type) return inner;
    bool cuts_off = v->type == IR_I32 && inner->type == IR_I64;
    if (cuts_off && inner->op == IR_CONVERT && ir_operand(inner, 0)->type == IR_I32)
        return inner->operand[0];
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A constant stands on the right where that makes no difference. */
static void put_constant_right(struct ir_value *v)
{
    static const enum ir_op mirrored[] = {
        [IR_ADD] = IR_ADD, [IR_MULTIPLY] = IR_MULTIPLY, [IR_AND] = IR_AND, [IR_OR] = IR_OR,
        [IR_XOR] = IR_XOR, [IR_EQUAL] = IR_EQUAL, [IR_LESS] = IR_GREATER,
        [IR_LESS_EQUAL] = IR_GREATER_EQUAL, [IR_GREATER] = IR_LESS,
        [IR_GREATER_EQUAL] = IR_LESS_EQUAL, [IR_MIN] = IR_MIN, [IR_MAX] = IR_MAX,
        [IR_NOT_EQUAL] = IR_NOT_EQUAL,
    };
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    if (v->op > IR_GREATER_EQUAL || !mirrored[v->op]) return;
    if (!ir_is_constant(left) || ir_is_constant(right)) return;
    v->op = mirrored[v->op];
    v->operand[0] = right;
    v->operand[1] = left;
}

/* What the value is the same as, or NULL. It may put simpler values in front of `v`. */
static struct ir_value *ir_folded(struct ir_function *f, struct ir_value *v)
{
    if (!ir_is_pure(v) || !ir_operand(v, 0)) return NULL;
    struct ir_value *constant = fold_constants(f, v);
    if (constant) return constant;
    put_constant_right(v);
    switch (v->op) {
    case IR_SELECT: return folded_select(f, v);
    case IR_CONVERT: return folded_convert(v);
    default: break;
    }
    if (v->op == IR_NEGATE) return negated_of(v->operand[0]);
    if (v->op >= IR_EQUAL && v->op <= IR_GREATER_EQUAL) return folded_compare(f, v);
    return ir_is_real(v->type) ? folded_real(f, v) : folded_integer(f, v);
}

static struct ir_value *simplest(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *folded = ir_folded(f, v);
    if (folded) ir_replace(v, folded);
    return ir_resolve(v);
}

struct ir_value *ir_build(struct ir_function *f, struct ir_block *block, struct ir_value *v)
{
    ir_append(block, v);
    return simplest(f, v);
}

struct ir_value *ir_build_before(struct ir_function *f, struct ir_value *at, struct ir_value *v)
{
    ir_insert(at->block, at, v);
    return simplest(f, v);
}

/* ---- has this value been computed before? Then the earlier one is used ----------------------- */

/*
 *     a = i * 4; b = i * 4;          b = a
 *
 * A value is there if it stands above: in a block that every path here leads through. Values are
 * looked up in a table by what they compute. Blocks are walked in an order in which those above
 * come first, so that operands are replaced before the values that use them.
 */

struct table {
    struct entry {
        struct ir_value *value;
        struct entry *next;
    } * *entries;
    uint64_t mask;
};

static struct ir_value *find_above(struct ir_function *f, struct table *t, struct ir_value *v)
{
    struct entry **slot = &t->entries[ir_hash(v) & t->mask];
    for (struct entry *e = *slot; e; e = e->next) {
        struct ir_value *other = e->value;
        if (other->is || !ir_same(other, v) || !ir_dominates(other->block, v->block)) continue;
        other->no_overflow &= v->no_overflow; // `other` may be computed where it is not needed
        return other;
    }
    struct entry *e = ARENA_NEW(f->arena, struct entry);
    *e = (struct entry){v, *slot};
    *slot = e;
    return NULL;
}

/* A condition that became a constant leaves one way. */
static bool settle_jump(struct ir_block *block)
{
    if (!block->condition) return false;
    block->condition = ir_resolve(block->condition);
    if (!ir_is_constant(block->condition)) return false;
    int taken = block->condition->bits ? 0 : 1;
    ir_disconnect(block, block->next[!taken]);
    block->next[0] = block->next[taken];
    block->next[1] = NULL;
    block->condition = NULL;
    return true;
}

static void visit(struct ir_function *f, struct table *t, struct ir_block *block)
{
    for (struct ir_value *v = block->first, *next; v; v = next) {
        next = v->next;
        struct ir_value *simple = ir_folded(f, v);
        if (!simple && ir_is_pure(v)) simple = find_above(f, t, v);
        if (simple) ir_replace(v, simple);
    }
}

void pass_same_values(struct ir_function *f)
{
    struct table t = {.mask = 63};
    while (t.mask < (uint64_t)f->value_count / 4) t.mask = 2 * t.mask + 1;
    t.entries = arena_take(f->arena, (t.mask + 1) * sizeof *t.entries);
    bool is_settled = false;
    phis_simplify(f);
    for (int b = 0; b < f->block_count; b++) {
        visit(f, &t, f->order[b]);
        is_settled |= settle_jump(f->order[b]);
    }
    if (is_settled) ir_order(f);
    phis_simplify(f);
}

/* constant.c — computing with constants, as the GPU would. */
#include "fold.h"
#include <math.h>

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

static struct ir_value *extension(struct ir_function *f, struct ir_value *v)
{
    uint64_t bits = v->operand[0]->bits;
    if (v->bytes == 1)
        bits = v->is_signed ? (uint64_t)(int8_t)bits : (uint8_t)bits;
    else
        bits = v->is_signed ? (uint64_t)(int16_t)bits : (uint16_t)bits;
    return ir_constant(f, IR_I32, bits);
}

struct ir_value *fold_constants(struct ir_function *f, struct ir_value *v)
{
    if (v->op == IR_SELECT || v->op == IR_FMA || v->op == IR_SQRT) return NULL;
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (!ir_is_constant(v->operand[k])) return NULL;
    if (v->op == IR_CONVERT) return conversion(f, v);
    if (v->op == IR_EXTEND) return extension(f, v);
    if (v->op >= IR_EQUAL && v->op <= IR_GREATER_EQUAL) return comparison(f, v);
    if (ir_is_real(v->type)) return real_constant(f, v);
    uint64_t result;
    int64_t a = ir_signed(v->operand[0]), b = v->operand[1] ? ir_signed(v->operand[1]) : 0;
    return integer_result(v, a, b, &result) ? ir_constant(f, v->type, result) : NULL;
}

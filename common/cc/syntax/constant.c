/*
 * constant.c — computes what is constant: sizes of arrays, arguments of templates, labels. Integers
 * wrap, as they do on the GPU. Reals are computed as their type says.
 */
#include "parser.h"

bool is_constant(const struct expr *e)
{
    return e->kind == EXPR_INTEGER || e->kind == EXPR_REAL || e->kind == EXPR_NULL;
}

static struct expr *real(struct parser *p, const struct type *type, double value,
                         struct position position)
{
    struct expr *e = new_expr(p, EXPR_REAL, type, position);
    e->real = type->kind == TYPE_FLOAT ? (double)(float)value : value;
    return e;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Is the result the machine's own affair: a division by 0, a shift by too much? */
static bool is_undefined(const struct expr *e, int64_t right)
{
    int64_t bits = 8 * type_size(e->type);
    if (e->op == OP_DIVIDE || e->op == OP_REMAINDER) return right == 0 || right == -1;
    if (e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT) return right < 0 || right >= bits;
    return false;
}

static int64_t compute_signed(enum operation op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_DIVIDE: return a / b;
    case OP_REMAINDER: return a % b;
    case OP_SHIFT_RIGHT: return a >> b;
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_GREATER: return a > b;
    default: return a >= b;
    }
}

/* Values of unsigned types are kept wrapped, and those of 8 bytes as the same bits. */
static uint64_t compute_unsigned(enum operation op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_DIVIDE: return a / b;
    case OP_REMAINDER: return a % b;
    case OP_SHIFT_RIGHT: return a >> b;
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_GREATER: return a > b;
    default: return a >= b;
    }
}

/* Operations whose bits are the same for signed and unsigned operands; the others as above. */
static int64_t compute(const struct expr *e, int64_t left, int64_t right)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    switch (e->op) {
    case OP_ADD: return (int64_t)(a + b);
    case OP_SUBTRACT: return (int64_t)(a - b);
    case OP_MULTIPLY: return (int64_t)(a * b);
    case OP_AND: return left & right;
    case OP_OR: return left | right;
    case OP_XOR: return left ^ right;
    case OP_SHIFT_LEFT: return (int64_t)(a << b);
    case OP_EQUAL: return left == right;
    case OP_NOT_EQUAL: return left != right;
    default: break;
    }
    if (type_is_signed(e->left->type)) return compute_signed(e->op, left, right);
    return (int64_t)compute_unsigned(e->op, a, b);
}

/* ---- reals ----------------------------------------------------------------------------------- */

static struct expr *fold_reals(struct parser *p, struct expr *e)
{
    double a = e->left->real, b = e->right->real;
    const struct type *type = e->type;
    switch (e->op) {
    case OP_LESS: return integer(p, type, a < b, e->at);
    case OP_LESS_EQUAL: return integer(p, type, a <= b, e->at);
    case OP_GREATER: return integer(p, type, a > b, e->at);
    case OP_GREATER_EQUAL: return integer(p, type, a >= b, e->at);
    case OP_EQUAL: return integer(p, type, a == b, e->at);
    case OP_NOT_EQUAL: return integer(p, type, a != b, e->at);
    /* The double result of two floats, rounded to float, is the float result. */
    case OP_ADD: return real(p, type, a + b, e->at);
    case OP_SUBTRACT: return real(p, type, a - b, e->at);
    case OP_MULTIPLY: return real(p, type, a * b, e->at);
    default: return e;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct expr *fold_binary(struct parser *p, struct expr *e)
{
    const struct expr *left = e->left, *right = e->right;
    if (left->kind == EXPR_REAL && right->kind == EXPR_REAL) return fold_reals(p, e);
    if (left->kind != EXPR_INTEGER || right->kind != EXPR_INTEGER) return e;
    if (is_undefined(e, right->integer)) return e;
    return integer(p, e->type, compute(e, left->integer, right->integer), e->at);
}

struct expr *fold_unary(struct parser *p, struct expr *e)
{
    const struct expr *left = e->left;
    if (left->kind == EXPR_REAL && e->kind == EXPR_NEGATE)
        return real(p, e->type, -left->real, e->at);
    if (left->kind != EXPR_INTEGER) return e;
    int64_t value = left->integer;
    if (e->kind == EXPR_NEGATE)
        value = (int64_t)(0 - (uint64_t)value);
    else
        value = e->kind == EXPR_NOT ? !value : ~value;
    return integer(p, e->type, value, e->at);
}

/* Only a real that the integer type holds. */
static struct expr *real_to_integer(struct parser *p, struct expr *e)
{
    const double limit = 9007199254740992.0; /* 2^53 */
    if (!(e->left->real > -limit && e->left->real < limit)) return e;
    int64_t value = (int64_t)e->left->real;
    struct expr *whole = integer(p, e->type, value, e->at);
    return whole->integer == value ? whole : e;
}

struct expr *fold_convert(struct parser *p, struct expr *e)
{
    const struct expr *left = e->left;
    const struct type *to = e->type;
    if (left->kind == EXPR_INTEGER && type_is_integer(to))
        return integer(p, to, left->integer, e->at);
    if (left->kind == EXPR_INTEGER && type_is_real(to)) {
        bool large = !type_is_signed(left->type) && left->integer < 0;
        if (to->kind == TYPE_FLOAT)
            return real(p, to, large ? (float)(uint64_t)left->integer : (float)left->integer,
                        e->at);
        return real(p, to, large ? (double)(uint64_t)left->integer : (double)left->integer, e->at);
    }
    if (left->kind == EXPR_REAL && type_is_real(to)) return real(p, to, left->real, e->at);
    if (left->kind == EXPR_REAL && to->kind == TYPE_BOOL)
        return integer(p, to, left->real != 0, e->at);
    if (left->kind == EXPR_REAL && type_is_integer(to)) return real_to_integer(p, e);
    return e;
}

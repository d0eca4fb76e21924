/*
 * build.c — nodes of expressions: conversions, operators, constants.
 */
#include "parser.h"

/* ---- computes what is constant: sizes of arrays, arguments of templates, labels -------------- */

/* Integers wrap, as they do on the GPU. Reals are computed as their type says. */

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

/* Values of unsigned types are kept wrapped, and those of 8 bytes as the same bits. */
#define DEFINE_COMPUTE(name, type)                                                                 \
    static int64_t name(enum operation op, type a, type b)                                         \
    {                                                                                              \
        switch (op) {                                                                              \
        case OP_DIVIDE: return (int64_t)(a / b);                                                   \
        case OP_REMAINDER: return (int64_t)(a % b);                                                \
        case OP_SHIFT_RIGHT: return (int64_t)(a >> b);                                             \
        case OP_LESS: return a < b;                                                                \
        case OP_LESS_EQUAL: return a <= b;                                                         \
        case OP_GREATER: return a > b;                                                             \
        default: return a >= b;                                                                    \
        }                                                                                          \
    }
DEFINE_COMPUTE(compute_signed, int64_t)
DEFINE_COMPUTE(compute_unsigned, uint64_t)

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
    return compute_unsigned(e->op, a, b);
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

static struct expr *fold_binary(struct parser *p, struct expr *e)
{
    const struct expr *left = e->left, *right = e->right;
    if (left->kind == EXPR_REAL && right->kind == EXPR_REAL) return fold_reals(p, e);
    if (left->kind != EXPR_INTEGER || right->kind != EXPR_INTEGER) return e;
    if (is_undefined(e, right->integer)) return e;
    return integer(p, e->type, compute(e, left->integer, right->integer), e->at);
}

static struct expr *fold_unary(struct parser *p, struct expr *e)
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

static struct expr *fold_convert(struct parser *p, struct expr *e)
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

/* ---- nodes of expressions, and the conversions between types --------------------------------- */

struct expr *new_expr(struct parser *p, enum expr_kind kind, const struct type *type,
                      struct position position)
{
    struct expr *e = ARENA_NEW(p->arena, struct expr);
    e->kind = kind;
    e->type = type;
    e->at = position;
    return e;
}

struct expr *unknown(struct parser *p, struct position position)
{
    return new_expr(p, EXPR_INTEGER, type_basic(TYPE_UNKNOWN), position);
}

struct expr *integer(struct parser *p, const struct type *type, int64_t value,
                     struct position position)
{
    struct expr *e = new_expr(p, EXPR_INTEGER, type, position);
    e->integer = type_wrap(type, value);
    return e;
}

bool is_unknown(const struct expr *e)
{
    return e->type->kind == TYPE_UNKNOWN || e->type->kind == TYPE_HOST;
}

/* an lvalue */
static bool is_place(const struct expr *e)
{
    if (e->kind == EXPR_MEMBER) return is_place(e->left);
    return e->kind == EXPR_SYMBOL || e->kind == EXPR_DEREF;
}

static struct expr *around(struct parser *p, enum expr_kind kind, const struct type *type,
                           struct expr *left)
{
    struct expr *e = new_expr(p, kind, type, left->at);
    e->left = left;
    return e;
}

/* A const variable whose value is known has it on the left of its EXPR_SYMBOL. */
static struct expr *known_value(struct parser *p, const struct expr *e)
{
    struct expr *value = ARENA_NEW(p->arena, struct expr);
    *value = *e->left;
    value->at = e->at;
    return value;
}

struct expr *value_of(struct parser *p, struct expr *e)
{
    if (!is_place(e) || is_unknown(e)) return e;
    if (e->kind == EXPR_SYMBOL && e->left != NULL) return known_value(p, e);
    if (e->type->kind == TYPE_ARRAY)
        return around(p, EXPR_DECAY, type_pointer(p->arena, e->type->base), e);
    return around(p, EXPR_LOAD, type_plain(p->arena, e->type), e);
}

struct expr *convert(struct parser *p, struct expr *e, const struct type *type,
                     struct position position)
{
    type = type_plain(p->arena, type);
    if (is_unknown(e) || type_same(e->type, type)) return e;
    if (e->type->kind == TYPE_NULL) {
        if (type->kind == TYPE_BOOL) return integer(p, type, 0, e->at);
        return new_expr(p, EXPR_NULL, type, e->at);
    }
    struct expr *converted = around(p, EXPR_CONVERT, type, e);
    converted->at = position;
    return fold_convert(p, converted);
}

/* ---- implicit conversions -------------------------------------------------------------------- */

static bool is_zero(const struct expr *e)
{
    return e->type->kind == TYPE_NULL ||
           (e->kind == EXPR_INTEGER && e->type->kind == TYPE_INT && e->integer == 0);
}

/* May a pointer to `from` be one to `to`? Const may be added, and void stands for all types. */
static bool may_point(const struct type *from, const struct type *to)
{
    if ((from->is_const && !to->is_const) || (from->is_volatile && !to->is_volatile)) return false;
    return to->kind == TYPE_VOID || type_same(from, to);
}

/* Does the language convert a value to the type by itself? */
static bool converts(const struct expr *e, const struct type *to)
{
    const struct type *from = e->type;
    if (type_same(from, to)) return true;
    if (to->kind == TYPE_BOOL) return type_is_arithmetic(from) || type_is_pointer(from);
    if (to->kind == TYPE_ENUM) return false;
    if (type_is_arithmetic(to)) return type_is_arithmetic(from);
    if (!type_is_pointer(to)) return false;
    return is_zero(e) || (type_is_pointer(from) && may_point(from->base, to->base));
}

static const char *hint_for(struct parser *p, const struct type *from, const struct type *to)
{
    if (type_is_pointer(from) && type_is_arithmetic(to)) return "an element of it is *p or p[i]";
    if (type_is_pointer(from) && type_is_pointer(to) && from->base->is_const && !to->base->is_const)
        return "what is const stays const: declare the pointer with const";
    if (to->kind == TYPE_ENUM || type_is_pointer(to))
        return cc_format(p->arena, "if it is meant so, write (%s) before it",
                         type_text(p->arena, to));
    return NULL;
}

struct expr *fit(struct parser *p, struct expr *e, const struct type *type, const char *what)
{
    e = value_of(p, e);
    type = type_plain(p->arena, type);
    if (is_unknown(e) || type->kind == TYPE_UNKNOWN || type->kind == TYPE_HOST) return e;
    if (!converts(e, type)) {
        complain(p, e->at, hint_for(p, e->type, type), "%s is of type `%s`, and has to be `%s`",
                 what, type_text(p->arena, e->type), type_text(p->arena, type));
        return unknown(p, e->at);
    }
    if (type_is_pointer(type) && is_zero(e)) return new_expr(p, EXPR_NULL, type, e->at);
    return convert(p, e, type, e->at);
}

struct expr *condition(struct parser *p, struct expr *e)
{
    e = value_of(p, e);
    const struct type *boolean = type_basic(TYPE_BOOL);
    if (e->type->kind == TYPE_NULL) return integer(p, boolean, 0, e->at);
    return fit(p, e, boolean, "the condition");
}

/* ---- arithmetic conversions ------------------------------------------------------------------ */

struct expr *promote(struct parser *p, struct expr *e)
{
    bool small = e->type->kind >= TYPE_BOOL && e->type->kind < TYPE_INT;
    if (small || e->type->kind == TYPE_ENUM) return convert(p, e, type_basic(TYPE_INT), e->at);
    return e;
}

/* The type in which two promoted numbers are computed with. */
static enum type_kind common_kind(const struct type *a, const struct type *b)
{
    if (a->kind < b->kind) return common_kind(b, a); /* a has the higher rank, or is unsigned */
    bool changes = type_is_integer(a) && type_is_signed(a) && !type_is_signed(b) &&
                   type_size(a) <= type_size(b);
    return changes ? a->kind + 1 : a->kind;
}

void balance(struct parser *p, struct expr **left, struct expr **right)
{
    if (is_unknown(*left) || is_unknown(*right)) return;
    *left = promote(p, *left);
    *right = promote(p, *right);
    const struct type *type = type_basic(common_kind((*left)->type, (*right)->type));
    *left = convert(p, *left, type, (*left)->at);
    *right = convert(p, *right, type, (*right)->at);
}

struct expr *dereference(struct parser *p, struct expr *pointer, struct position position)
{
    struct expr *e = new_expr(p, EXPR_DEREF, pointer->type->base, position);
    e->left = pointer;
    return e;
}

/* ---- nodes of operators: which types they take, and what they give --------------------------- */

static const char *const MARKS[] = {
    [OP_ADD] = "+",         [OP_SUBTRACT] = "-",
    [OP_MULTIPLY] = "*",    [OP_DIVIDE] = "/",
    [OP_REMAINDER] = "%",   [OP_AND] = "&",
    [OP_OR] = "|",          [OP_XOR] = "^",
    [OP_SHIFT_LEFT] = "<<", [OP_SHIFT_RIGHT] = ">>",
    [OP_LESS] = "<",        [OP_LESS_EQUAL] = "<=",
    [OP_GREATER] = ">",     [OP_GREATER_EQUAL] = ">=",
    [OP_EQUAL] = "==",      [OP_NOT_EQUAL] = "!=",
};

static bool compares(enum operation op) { return op >= OP_LESS; }
static bool needs_integers(enum operation op) { return op >= OP_REMAINDER && op <= OP_SHIFT_RIGHT; }
static bool shifts(enum operation op) { return op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT; }

static struct expr *binary(struct parser *p, enum operation op, const struct type *type,
                           struct expr *left, struct expr *right, struct position position)
{
    struct expr *e = new_expr(p, EXPR_BINARY, type, position);
    e->op = op;
    e->left = left;
    e->right = right;
    return e;
}

static struct expr *wrong_types(struct parser *p, enum operation op, const struct expr *left,
                                const struct expr *right, struct position position)
{
    bool real = needs_integers(op) && (type_is_real(left->type) || type_is_real(right->type));
    const char *hint = real && op == OP_REMAINDER ? "% and bits are for integers" : NULL;
    complain(p, position, hint, "`%s` does not take `%s` and `%s`", MARKS[op],
             type_text(p->arena, left->type), type_text(p->arena, right->type));
    return unknown(p, position);
}

/* ---- pointers -------------------------------------------------------------------------------- */

/* An index as a long, or as an unsigned long if it is one. */
static struct expr *as_index(struct parser *p, struct expr *e)
{
    e = promote(p, e);
    bool is_unsigned = type_size(e->type) == 8 && !type_is_signed(e->type);
    return convert(p, e, type_basic(is_unsigned ? TYPE_UNSIGNED_LONG : TYPE_LONG), e->at);
}

static struct expr *negated(struct parser *p, struct expr *e)
{
    struct expr *negative = new_expr(p, EXPR_NEGATE, e->type, e->at);
    negative->left = e;
    return fold_unary(p, negative);
}

static bool points_to_elements(const struct expr *e)
{
    return type_is_pointer(e->type) && type_size(e->type->base) > 0;
}

static struct expr *move_pointer(struct parser *p, struct expr *pointer, struct expr *index,
                                 bool back, struct position position)
{
    struct expr *e = new_expr(p, EXPR_POINTER_ADD, pointer->type, position);
    e->left = pointer;
    e->right = as_index(p, index);
    if (back) e->right = negated(p, e->right);
    return e;
}

/* Two pointers to elements of one type, or a pointer and null, as operands of a comparison. */
static bool match_pointers(struct parser *p, struct expr **left, struct expr **right)
{
    for (int i = 0; i < 2; i++) {
        struct expr **one = i == 0 ? left : right, *other = i == 0 ? *right : *left;
        bool zero = (*one)->kind == EXPR_INTEGER && (*one)->integer == 0;
        if (type_is_pointer(other->type) && ((*one)->type->kind == TYPE_NULL || zero))
            *one = new_expr(p, EXPR_NULL, other->type, (*one)->at);
    }
    const struct type *a = (*left)->type, *b = (*right)->type;
    return type_is_pointer(a) && type_is_pointer(b) &&
           (type_same(a->base, b->base) || a->base->kind == TYPE_VOID ||
            b->base->kind == TYPE_VOID);
}

static struct expr *pointer_binary(struct parser *p, enum operation op, struct expr *left,
                                   struct expr *right, struct position position)
{
    if (op == OP_ADD || op == OP_SUBTRACT) {
        if (points_to_elements(left) && type_is_integer(right->type))
            return move_pointer(p, left, right, op == OP_SUBTRACT, position);
        if (op == OP_ADD && points_to_elements(right) && type_is_integer(left->type))
            return move_pointer(p, right, left, false, position);
    }
    if (op == OP_SUBTRACT && points_to_elements(left) && match_pointers(p, &left, &right)) {
        struct expr *e = binary(p, op, type_basic(TYPE_LONG), left, right, position);
        e->kind = EXPR_POINTER_DIFF;
        return e;
    }
    if (compares(op) && match_pointers(p, &left, &right))
        return binary(p, op, type_basic(TYPE_BOOL), left, right, position);
    return wrong_types(p, op, left, right, position);
}

/* ---- operations of two operands -------------------------------------------------------------- */

static void remark_on_zero(struct parser *p, enum operation op, const struct expr *right)
{
    bool divides = op == OP_DIVIDE || op == OP_REMAINDER;
    if (divides && right->kind == EXPR_INTEGER && right->integer == 0)
        remark(p, right->at, NULL, "0 is divided by");
}

struct expr *build_binary(struct parser *p, enum operation op, struct expr *left,
                          struct expr *right, struct position position)
{
    left = value_of(p, left);
    right = value_of(p, right);
    if (is_unknown(left) || is_unknown(right)) return unknown(p, position);
    const struct type *a = left->type, *b = right->type;
    if (!type_is_arithmetic(a) || !type_is_arithmetic(b))
        return pointer_binary(p, op, left, right, position);
    if (needs_integers(op) && !(type_is_integer(a) && type_is_integer(b)))
        return wrong_types(p, op, left, right, position);

    if (shifts(op)) {
        left = promote(p, left);
        right = promote(p, right);
    } else {
        balance(p, &left, &right);
    }
    remark_on_zero(p, op, right);
    const struct type *type = compares(op) ? type_basic(TYPE_BOOL) : left->type;
    return fold_binary(p, binary(p, op, type, left, right, position));
}

struct expr *build_logical(struct parser *p, enum expr_kind kind, struct expr *left,
                           struct expr *right, struct position position)
{
    struct expr *e = new_expr(p, kind, type_basic(TYPE_BOOL), position);
    e->left = condition(p, left);
    e->right = condition(p, right);
    if (is_unknown(e->left) || is_unknown(e->right)) return unknown(p, position);
    if (e->left->kind != EXPR_INTEGER) return e;
    bool decided = (e->left->integer != 0) == (kind == EXPR_OR_ELSE);
    return decided ? e->left : e->right;
}

/* ---- operations of one operand --------------------------------------------------------------- */

static struct expr *address_of(struct parser *p, struct expr *operand, struct position position)
{
    if (!is_place(operand)) {
        complain(p, position, NULL, "& takes the address of a variable, and this is a value");
        return unknown(p, position);
    }
    const struct expr *whole = operand;
    while (whole->kind == EXPR_MEMBER) whole = whole->left;
    if (whole->kind == EXPR_SYMBOL) whole->symbol->addressed = true;
    struct expr *e = new_expr(p, EXPR_ADDRESS, type_pointer(p->arena, operand->type), position);
    e->left = operand;
    return e;
}

static struct expr *follow(struct parser *p, struct expr *pointer, struct position position)
{
    if (points_to_elements(pointer)) return dereference(p, pointer, position);
    complain(p, position, NULL, "* follows a pointer, and this is of type `%s`",
             type_text(p->arena, pointer->type));
    return unknown(p, position);
}

struct expr *build_unary(struct parser *p, const struct token *mark, struct expr *operand)
{
    if (is_unknown(operand)) return operand;
    if (*mark->text == '&') return address_of(p, operand, mark->at);
    if (*mark->text == '*') return follow(p, value_of(p, operand), mark->at);
    bool logical = *mark->text == '!';
    operand = logical ? condition(p, operand) : value_of(p, operand);
    const struct type *type = operand->type;
    if (!(*mark->text == '~' ? type_is_integer(type) : type_is_arithmetic(type))) {
        if (!is_unknown(operand))
            complain(p, mark->at, NULL, "`%.*s` does not take `%s`", mark->length, mark->text,
                     type_text(p->arena, type));
        return unknown(p, mark->at);
    }
    if (!logical) operand = promote(p, operand);
    if (*mark->text == '+') return operand;
    enum expr_kind kind = logical ? EXPR_NOT : *mark->text == '~' ? EXPR_COMPLEMENT : EXPR_NEGATE;
    struct expr *e = new_expr(p, kind, operand->type, mark->at);
    e->left = operand;
    return fold_unary(p, e);
}

/* ---- ?: and casts ---------------------------------------------------------------------------- */

/* Converts both to one type. */
static bool unite(struct parser *p, struct expr **left, struct expr **right)
{
    const struct type *a = (*left)->type, *b = (*right)->type;
    if (type_same(a, b)) return true;
    if (type_is_arithmetic(a) && type_is_arithmetic(b)) return balance(p, left, right), true;
    if (!match_pointers(p, left, right)) {
        if (!type_is_pointer(a) || !type_is_pointer(b)) return false;
        const struct type *base = type_plain(p->arena, a->base);
        if (!type_same(base, b->base)) return false;
    }
    bool to_right = (*right)->type->base->is_const || (*right)->type->base->kind == TYPE_VOID;
    if (to_right)
        *left = convert(p, *left, (*right)->type, (*left)->at);
    else
        *right = convert(p, *right, (*left)->type, (*right)->at);
    return true;
}

struct expr *build_conditional(struct parser *p, struct expr *which, struct expr *left,
                               struct expr *right, struct position position)
{
    which = condition(p, which);
    left = value_of(p, left);
    right = value_of(p, right);
    if (is_unknown(which) || is_unknown(left) || is_unknown(right)) return unknown(p, position);
    if (!unite(p, &left, &right)) {
        complain(p, position, NULL, "what ? chooses between is of one type, and not `%s` and `%s`",
                 type_text(p->arena, left->type), type_text(p->arena, right->type));
        return unknown(p, position);
    }
    if (which->kind == EXPR_INTEGER) return which->integer ? left : right;
    struct expr *e = new_expr(p, EXPR_CONDITIONAL, left->type, position);
    e->condition = which;
    e->left = left;
    e->right = right;
    return e;
}

struct expr *build_cast(struct parser *p, const struct type *type, struct expr *e,
                        struct position position)
{
    e = value_of(p, e);
    const struct type *from = e->type;
    if (is_unknown(e) || type->kind == TYPE_UNKNOWN || type->kind == TYPE_HOST)
        return unknown(p, position);
    if (type->kind == TYPE_VOID) { /* (void)x: x, and a value that is not used */
        struct expr *both = new_expr(p, EXPR_COMMA, type_basic(TYPE_INT), position);
        both->left = e;
        both->right = integer(p, both->type, 0, position);
        return both;
    }
    bool wide = type_is_integer(type) && (type_size(type) == 8 || type->kind == TYPE_BOOL);
    bool from_wide = type_is_integer(from) && type_size(from) == 8;
    bool null = from->kind == TYPE_NULL || (e->kind == EXPR_INTEGER && e->integer == 0);
    if ((type_is_arithmetic(type) && type_is_arithmetic(from)) ||
        (type_is_pointer(type) && (type_is_pointer(from) || from_wide)) ||
        (wide && type_is_pointer(from)))
        return convert(p, e, type, position);
    if (type_is_pointer(type) && null) return new_expr(p, EXPR_NULL, type, position);
    if (type_is_pointer(type) && type_is_integer(from))
        complain(p, position, NULL,
                 "a cast of `%s` to a pointer: nvcc accepts this, the page's compiler does not",
                 type_text(p->arena, from));
    complain(p, position, NULL, "`%s` cannot be cast to `%s`", type_text(p->arena, from),
             type_text(p->arena, type));
    return unknown(p, position);
}

/* ---- assignments ----------------------------------------------------------------------------- */

static const char *why_not_assignable(struct parser *p, const struct expr *e)
{
    if (e->kind == EXPR_SPECIAL) return "the built-in variables of a thread cannot be changed";
    if (!is_place(e)) return "what is assigned to has to be a variable or an element";
    if (e->type->kind == TYPE_ARRAY) return "an array is assigned to element by element";
    const struct expr *whole = e;
    while (whole->kind == EXPR_MEMBER) whole = whole->left;
    if (whole->kind == EXPR_SYMBOL && whole->symbol->kind == SYMBOL_CONSTANT)
        return "what is __constant__ is only changed by the host";
    const struct type *element = e->type;
    if (!element->is_const) return NULL;
    if (whole->kind == EXPR_SYMBOL && whole->symbol->type->is_const)
        return cc_format(p->arena, "`%s` is const, and keeps its value", whole->symbol->name);
    return "this element is const: its pointer or array was declared with const";
}

static bool check_place(struct parser *p, const struct expr *e)
{
    if (is_unknown(e)) return false;
    const char *why = why_not_assignable(p, e);
    if (why != NULL) complain(p, e->at, NULL, "%s", why);
    return why == NULL;
}

struct expr *build_assignment(struct parser *p, struct expr *place, struct expr *value,
                              struct position position)
{
    if (!check_place(p, place)) return unknown(p, position);
    value = fit(p, value, place->type, "what is assigned");
    struct expr *e = binary(p, OP_ADD, type_plain(p->arena, place->type), place, value, position);
    e->kind = EXPR_ASSIGN;
    return is_unknown(value) ? unknown(p, position) : e;
}

/* The right operand of an update, in the type in which it is computed; NULL after an error. */
static struct expr *update_operand(struct parser *p, enum operation op, const struct expr *place,
                                   struct expr *value, const struct type **computed)
{
    const struct type *type = type_plain(p->arena, place->type);
    struct expr *old = new_expr(p, EXPR_LOAD, type, place->at);
    if (type_is_pointer(type) && type_is_integer(value->type) && type_size(type->base) > 0 &&
        (op == OP_ADD || op == OP_SUBTRACT)) {
        *computed = type;
        value = as_index(p, value);
        return op == OP_SUBTRACT ? negated(p, value) : value;
    }
    bool integers = type_is_integer(type) && type_is_integer(value->type);
    bool numbers = type_is_arithmetic(type) && type_is_arithmetic(value->type);
    if (type->kind == TYPE_ENUM || !(needs_integers(op) ? integers : numbers)) {
        wrong_types(p, op, old, value, place->at);
        return NULL;
    }
    if (shifts(op)) {
        old = promote(p, old);
        value = promote(p, value);
    } else {
        balance(p, &old, &value);
    }
    *computed = old->type;
    return value;
}

struct expr *build_update(struct parser *p, enum operation op, struct expr *place,
                          struct expr *value, bool gives_old, struct position position)
{
    value = value_of(p, value);
    if (!check_place(p, place) || is_unknown(value)) return unknown(p, position);
    const struct type *computed = NULL;
    value = update_operand(p, op, place, value, &computed);
    if (value == NULL) return unknown(p, position);
    remark_on_zero(p, op, value);
    bool pointer = type_is_pointer(computed);
    struct expr *e =
        binary(p, pointer ? OP_ADD : op, type_plain(p->arena, place->type), place, value, position);
    e->kind = EXPR_UPDATE;
    e->computed = computed;
    e->gives_old = gives_old;
    return e;
}

/* build.c — nodes of operators: which types they take, and what they give. */
#include "parser.h"

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
    if (operand->kind == EXPR_SYMBOL) operand->symbol->addressed = true;
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
    if (e->kind == EXPR_SYMBOL && e->symbol->kind == SYMBOL_CONSTANT)
        return "what is __constant__ is only changed by the host";
    const struct type *element = e->type;
    if (!element->is_const) return NULL;
    if (e->kind == EXPR_SYMBOL)
        return cc_format(p->arena, "`%s` is const, and keeps its value", e->symbol->name);
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

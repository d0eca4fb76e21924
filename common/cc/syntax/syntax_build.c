/* syntax_build.c — nodes of expressions, and the conversions between types. */
#include "parser.h"

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

bool is_place(const struct expr *e) { return e->kind == EXPR_SYMBOL || e->kind == EXPR_DEREF; }

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
    if (from->is_const && !to->is_const) return false;
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

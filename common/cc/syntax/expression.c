/* expression.c — the grammar of expressions, from commas down to unary operators. */
#include "parser.h"

#include <string.h>

/* ---- operators of two operands --------------------------------------------------------------- */

enum { AND_THEN = -1, OR_ELSE = -2 };

/* What an operator does, and how strongly it binds. */
static const struct row {
    const char *text;
    int operation, strength;
} ROWS[] = {{"||", OR_ELSE, 1},
            {"&&", AND_THEN, 2},
            {"|", OP_OR, 3},
            {"^", OP_XOR, 4},
            {"&", OP_AND, 5},
            {"==", OP_EQUAL, 6},
            {"!=", OP_NOT_EQUAL, 6},
            {"<", OP_LESS, 7},
            {"<=", OP_LESS_EQUAL, 7},
            {">", OP_GREATER, 7},
            {">=", OP_GREATER_EQUAL, 7},
            {"<<", OP_SHIFT_LEFT, 8},
            {">>", OP_SHIFT_RIGHT, 8},
            {"+", OP_ADD, 9},
            {"-", OP_SUBTRACT, 9},
            {"*", OP_MULTIPLY, 10},
            {"/", OP_DIVIDE, 10},
            {"%", OP_REMAINDER, 10}};

static const struct row *row_of(const struct parser *p)
{
    if (p->token->kind != TOKEN_MARK) return NULL;
    if (p->in_template_arguments && *p->token->text == '>') return NULL;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if (sees(p, ROWS[i].text)) return &ROWS[i];
    return NULL;
}

static struct expr *read_unary(struct parser *);

static struct expr *combine(struct parser *p, int operation, struct expr *left, struct expr *right,
                            struct position position)
{
    if (operation == AND_THEN) return build_logical(p, EXPR_AND_THEN, left, right, position);
    if (operation == OR_ELSE) return build_logical(p, EXPR_OR_ELSE, left, right, position);
    return build_binary(p, (enum operation)operation, left, right, position);
}

/* Operations that bind at least as strongly as `least`. */
static struct expr *read_operations(struct parser *p, int least)
{
    struct expr *left = read_unary(p);
    const struct row *row;
    while ((row = row_of(p)) != NULL && row->strength >= least) {
        struct position position = p->token->at;
        go_past(p);
        struct expr *right = read_operations(p, row->strength + 1);
        left = combine(p, row->operation, left, right, position);
    }
    if (sees(p, "<<<"))
        stumble(p, p->token->at, "only host code launches kernels",
                "`<<<` launches a kernel, and this is device code");
    return left;
}

struct expr *read_conditional(struct parser *p)
{
    if (!enter(p)) return unknown(p, p->token->at);
    struct expr *e = read_operations(p, 1);
    if (sees(p, "?")) {
        struct position position = p->token->at;
        go_past(p);
        struct expr *left = read_expression(p);
        needs(p, ":");
        struct expr *right = read_assignment(p);
        e = build_conditional(p, e, left, right, position);
    }
    leave(p);
    return e;
}

/* ---- assignments and commas ------------------------------------------------------------------ */

/* The operation of `+=` and so on; -1: the token is no such operator. */
static int update_operation(const struct token *token)
{
    static const struct row UPDATES[] = {{"+=", OP_ADD, 0},         {"-=", OP_SUBTRACT, 0},
                                         {"*=", OP_MULTIPLY, 0},    {"/=", OP_DIVIDE, 0},
                                         {"%=", OP_REMAINDER, 0},   {"&=", OP_AND, 0},
                                         {"|=", OP_OR, 0},          {"^=", OP_XOR, 0},
                                         {"<<=", OP_SHIFT_LEFT, 0}, {">>=", OP_SHIFT_RIGHT, 0}};
    for (size_t i = 0; i < sizeof(UPDATES) / sizeof(UPDATES[0]); i++)
        if (is_token(token, UPDATES[i].text)) return UPDATES[i].operation;
    return -1;
}

struct expr *read_assignment(struct parser *p)
{
    struct expr *left = read_conditional(p);
    struct position position = p->token->at;
    int operation = update_operation(p->token);
    if ((operation < 0 && !sees(p, "=")) || !enter(p)) return left;
    go_past(p);
    struct expr *right = read_assignment(p);
    leave(p);
    if (operation < 0) return build_assignment(p, left, right, position);
    return build_update(p, (enum operation)operation, left, right, false, position);
}

struct expr *read_expression(struct parser *p)
{
    struct expr *left = read_assignment(p);
    while (sees(p, ",")) {
        struct position position = p->token->at;
        go_past(p);
        struct expr *right = value_of(p, read_assignment(p));
        left = value_of(p, left);
        struct expr *e = new_expr(p, EXPR_COMMA, right->type, position);
        e->left = left;
        e->right = right;
        left = is_unknown(left) ? left : e;
    }
    return left;
}

/* ---- operators of one operand ---------------------------------------------------------------- */

static struct expr *read_cast(struct parser *p)
{
    struct position position = p->token->at;
    go_past(p);
    const struct type *type = read_type_name(p);
    needs(p, ")");
    if (sees(p, "{")) refuse(p, p->token, "a compound literal");
    struct expr *operand = read_unary(p);
    return build_cast(p, type, operand, position);
}

static struct expr *read_sizeof(struct parser *p)
{
    struct position position = p->token->at;
    const struct type *type;
    go_past(p);
    struct token *open = p->token;
    if (takes(p, "(") && begins_type(p)) {
        type = read_type_name(p);
        needs(p, ")");
    } else {
        p->token = open;
        type = read_unary(p)->type;
    }
    if (type->kind == TYPE_UNKNOWN || p->stumbled_at != NULL) return unknown(p, position);
    if (type_size(type) == 0)
        complain(p, position, NULL, "`%s` has no size here", type_text(p->arena, type));
    return integer(p, type_basic(TYPE_UNSIGNED_LONG), type_size(type), position);
}

static struct expr *read_step(struct parser *p, enum operation op)
{
    struct position position = p->token->at;
    go_past(p);
    struct expr *place = read_unary(p), *one = integer(p, type_basic(TYPE_INT), 1, position);
    return build_update(p, op, place, one, false, position);
}

static bool begins_cast(struct parser *p)
{
    if (!sees(p, "(") || p->token->next->kind != TOKEN_NAME) return false;
    struct token *open = p->token;
    p->token = open->next;
    bool is_type = begins_type(p);
    p->token = open;
    return is_type;
}

static struct expr *read_unary_inside(struct parser *p)
{
    struct token *mark = p->token;
    if (begins_cast(p)) return read_cast(p);
    if (sees(p, "sizeof")) return read_sizeof(p);
    if (sees(p, "++")) return read_step(p, OP_ADD);
    if (sees(p, "--")) return read_step(p, OP_SUBTRACT);
    if (mark->kind != TOKEN_MARK || mark->length != 1 || strchr("+-!~*&", *mark->text) == NULL)
        return read_postfix(p);
    go_past(p);
    struct expr *operand = read_unary(p);
    return build_unary(p, mark, operand);
}

static struct expr *read_unary(struct parser *p)
{
    if (!enter(p)) return unknown(p, p->token->at);
    struct expr *e = read_unary_inside(p);
    leave(p);
    return e;
}

/* ---- constants ------------------------------------------------------------------------------- */

const struct expr *read_constant_node(struct parser *p, const char *what)
{
    struct expr *e = value_of(p, read_conditional(p));
    if (is_unknown(e) || p->stumbled_at != NULL) return NULL;
    if (e->kind == EXPR_INTEGER) return e;
    complain(p, e->at, NULL, "%s has to be a constant", what);
    return NULL;
}

int64_t read_constant(struct parser *p, const char *what)
{
    const struct expr *e = read_constant_node(p, what);
    return e == NULL ? 0 : e->integer;
}

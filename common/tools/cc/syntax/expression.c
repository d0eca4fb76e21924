/*
 * expression.c — the grammar of expressions.
 */
#include "parser.h"
#include "common/tools/cc/source/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers, characters and strings --------------------------------------------------------- */

enum { LONGEST_NUMBER = 100 };

static struct expr *wrong(struct parser *p, const struct token *token, const char *why)
{
    complain(p, token->at, NULL, "`%s` is no number: %s", text_of(p, token), why);
    return unknown(p, token->at);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The first of int, long (and their unsigned forms) that holds the value. Decimal numbers without u
 * are never unsigned. */
static enum type_kind integer_kind(uint64_t value, bool decimal, bool is_unsigned, int longs)
{
    enum type_kind kind = longs == 0 ? TYPE_INT : longs == 1 ? TYPE_LONG : TYPE_LONG_LONG;
    for (; kind <= TYPE_UNSIGNED_LONG_LONG; kind++) {
        bool unsigned_kind = !type_is_signed(type_basic(kind));
        int bits = 8 * (int)type_size(type_basic(kind)) - !unsigned_kind;
        bool may = unsigned_kind ? is_unsigned || !decimal : !is_unsigned;
        if (may && (bits == 64 || value >> bits == 0)) return kind;
    }
    return TYPE_UNKNOWN;
}

static struct expr *read_integer(struct parser *p, const struct token *token, const char *digits)
{
    bool binary = digits[0] == '0' && strchr("bB", digits[1]) != NULL && digits[1] != 0;
    char *end;
    errno = 0;
    uint64_t value = binary ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
    bool too_large = errno == ERANGE, is_unsigned = false;
    int longs = 0;
    for (; *end != 0 && strchr("uUlL", *end) != NULL; end++) {
        if (*end == 'u' || *end == 'U')
            is_unsigned = true;
        else
            longs++;
    }
    if (*end != 0 || longs > 2) return wrong(p, token, "it has a letter too many");
    enum type_kind kind = integer_kind(value, digits[0] != '0', is_unsigned, longs);
    if (too_large || kind == TYPE_UNKNOWN) return wrong(p, token, "it is too large");
    return integer(p, type_basic(kind), (int64_t)value, token->at);
}

static struct expr *read_real(struct parser *p, const struct token *token, const char *digits)
{
    char *end;
    double value = strtod(digits, &end);
    bool is_float = *end == 'f' || *end == 'F';
    if (is_float) value = (double)strtof(digits, &end), end++;
    if (*end != 0) return wrong(p, token, "it has a letter too many");
    struct expr *e =
        new_expr(p, EXPR_REAL, type_basic(is_float ? TYPE_FLOAT : TYPE_DOUBLE), token->at);
    e->real = value;
    return e;
}

static struct expr *read_number(struct parser *p, const struct token *token)
{
    char digits[LONGEST_NUMBER + 1];
    int length = 0;
    for (int i = 0; i < token->length; i++) {
        if (length == LONGEST_NUMBER) return wrong(p, token, "it has too many digits");
        if (token->text[i] != '\'') digits[length++] = token->text[i];
    }
    digits[length] = 0;
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    bool is_real = strpbrk(digits, hexadecimal ? ".pP" : ".eE") != NULL;
    return is_real ? read_real(p, token, digits) : read_integer(p, token, digits);
}

/* ---- characters and strings ------------------------------------------------------------------ */

/* Appends what stands between the quotes; returns the new length. */
static int64_t read_quoted(struct parser *p, const struct token *token, char *to, int64_t length)
{
    const char *text = token->text + 1, *end = token->text + token->length - 1;
    bool known = true;
    while (text < end) to[length++] = read_character(&text, &known);
    if (!known) complain(p, token->at, NULL, "there is no such character after \\");
    return length;
}

static struct expr *read_single(struct parser *p, const struct token *token)
{
    char *text = arena_take(p->arena, (size_t)token->length + 1);
    if (read_quoted(p, token, text, 0) != 1) {
        complain(p, token->at, "a string has \" around it",
                 "one character stands between the quotes ' and '");
        return unknown(p, token->at);
    }
    return integer(p, type_basic(TYPE_CHAR), text[0], token->at);
}

struct expr *read_string(struct parser *p)
{
    struct token *first = p->token;
    size_t room = 1;
    for (struct token *t = first; t->kind == TOKEN_STRING; t = t->next) room += (size_t)t->length;
    char *text = arena_take(p->arena, room);
    const struct type *character = type_with_const(p->arena, type_basic(TYPE_CHAR));
    struct expr *e = new_expr(p, EXPR_STRING, type_pointer(p->arena, character), first->at);
    e->string = text;
    for (; p->token->kind == TOKEN_STRING; go_past(p))
        e->length = read_quoted(p, p->token, text, e->length);
    return e;
}

static struct expr *read_literal(struct parser *p)
{
    struct token *token = p->token;
    if (token->kind == TOKEN_STRING) {
        if (is_host_code(p)) return read_string(p);
        complain(p, token->at, NULL, "a string in device code stands only in printf");
        return read_string(p);
    }
    go_past(p);
    return token->kind == TOKEN_NUMBER ? read_number(p, token) : read_single(p, token);
}

/* ---- names, parentheses, and what follows them: calls, indices, ++ --------------------------- */

/* Goes past arguments in parentheses whose function is not known. */
static struct expr *skip_call(struct parser *p, struct token *name)
{
    if (sees(p, "(")) p->token = after_bracket(p->token);
    return unknown(p, name->at);
}

/* What was refused before; after it also <…> of a template, or a member. */
static struct expr *of_refused(struct parser *p, struct token *token)
{
    if (sees(p, "<") || sees(p, "::")) give_up(p);
    return skip_call(p, token);
}

static struct expr *of_name(struct parser *, struct token *, const struct name *);

static struct expr *of_host(struct parser *p, struct token *token, const struct name *name)
{
    if (is_host_code(p) && name->begin != NULL) {
        bool is_right = read_host(p, token, name);
        return is_right ? of_name(p, token, find_name(p, token)) : of_refused(p, token);
    }
    if (name->is_function)
        complain(p, token->at, "write __device__ before it, if a kernel is to call it",
                 "`%s` is a function of the host, and this is device code", name->text);
    else
        complain(p, token->at, "hand it to the kernel as an argument",
                 "`%s` is a variable of the host, and this is device code", name->text);
    return skip_call(p, token);
}

static struct expr *of_function(struct parser *p, struct token *token, struct function *function)
{
    if (sees(p, "(")) return read_call(p, token, function);
    if (sees(p, "<<<") && is_host_code(p)) {
        if (function->is_kernel) return read_launch(p, token, function);
        give_up(p); /* find_launches has said it */
    } else if (sees(p, "<<<"))
        stumble(p, p->token->at, "only host code launches kernels",
                "`<<<` launches a kernel, and this is device code");
    else
        complain(p, token->at, "write ( and ) after it, with its arguments between them",
                 "the function `%s` is named here, but not called", function->name);
    return unknown(p, token->at);
}

static struct expr *of_template(struct parser *p, struct token *token, struct template *template)
{
    struct function *instance = read_instance(p, template, token);
    return instance == NULL ? skip_call(p, token) : of_function(p, token, instance);
}

static struct expr *of_symbol(struct parser *p, struct token *token, const struct name *name)
{
    if (name->symbol->type->kind == TYPE_UNKNOWN) return unknown(p, token->at);
    if (is_host_code(p) && name->symbol->is_of_gpu && name->value == NULL)
        refuse(p, token, "a __device__ or __constant__ variable in code of the host");
    struct expr *e = new_expr(p, EXPR_SYMBOL, name->symbol->type, token->at);
    e->symbol = name->symbol;
    e->left = name->value;
    return e;
}

/* float(x) */
static struct expr *read_functional_cast(struct parser *p)
{
    struct position position = p->token->at;
    const struct specifiers s = read_specifiers(p);
    needs(p, "(");
    struct expr *e = read_assignment(p);
    needs(p, ")");
    return build_cast(p, s.type, e, position);
}

static struct expr *of_unknown(struct parser *p, struct token *token)
{
    struct expr *built_in = read_built_in(p, token);
    if (built_in != NULL) return built_in;
    unknown_name(p, token);
    return skip_call(p, token);
}

static struct expr *read_named(struct parser *p)
{
    struct token *token = p->token;
    const struct name *name = find_name(p, token);
    if (is_type(p) && next_is(p, "(")) return read_functional_cast(p);
    if (is_type(p)) {
        stumble(p, token->at, NULL, "a value is missing before the type `%s`", text_of(p, token));
        return unknown(p, token->at);
    }
    go_past(p);
    return name == NULL ? of_unknown(p, token) : of_name(p, token, name);
}

static struct expr *of_name(struct parser *p, struct token *token, const struct name *name)
{
    switch (name->kind) {
    case NAME_SYMBOL: return of_symbol(p, token, name);
    case NAME_FUNCTION: return of_function(p, token, name->function);
    case NAME_TEMPLATE: return of_template(p, token, name->template);
    case NAME_HOST: return of_host(p, token, name);
    case NAME_REFUSED: return of_refused(p, token);
    default: break;
    }
    struct expr *constant = ARENA_NEW(p->arena, struct expr);
    *constant = *name->constant;
    constant->at = token->at;
    return constant;
}

static struct expr *read_parentheses(struct parser *p)
{
    bool outer = p->in_template_arguments;
    p->in_template_arguments = false;
    go_past(p);
    struct expr *e = read_expression(p);
    needs(p, ")");
    p->in_template_arguments = outer;
    return e;
}

static struct expr *read_primary(struct parser *p)
{
    struct token *token = p->token;
    switch (token->kind) {
    case TOKEN_NUMBER:
    case TOKEN_CHARACTER:
    case TOKEN_STRING: return read_literal(p);
    case TOKEN_NAME: return read_named(p);
    default: break;
    }
    if (sees(p, "(")) return read_parentheses(p);
    if (sees(p, "["))
        refuse(p, token, "a lambda");
    else if (sees(p, "::"))
        refuse(p, token, "a name with ::");
    else
        stumble(p, token->at, NULL, "a value is missing before `%s`", text_of(p, token));
    return unknown(p, token->at);
}

/* ---- what follows a value -------------------------------------------------------------------- */

static struct expr *read_index(struct parser *p, struct expr *array)
{
    struct position position = p->token->at;
    bool outer = p->in_template_arguments;
    p->in_template_arguments = false;
    go_past(p);
    struct expr *index = value_of(p, read_expression(p));
    needs(p, "]");
    p->in_template_arguments = outer;
    array = value_of(p, array);
    if (is_unknown(array) || is_unknown(index)) return unknown(p, array->at);
    bool of_pointer = type_is_pointer(array->type) && type_size(array->type->base) > 0;
    if (of_pointer && type_is_integer(index->type))
        return dereference(p, build_binary(p, OP_ADD, array, index, array->at), array->at);
    if (!of_pointer)
        complain(p, array->at, NULL, "only an array or a pointer has elements, and this is `%s`",
                 type_text(p->arena, array->type));
    else
        complain(p, index->at, "if its fraction is to be dropped, write (int) before it",
                 "an index is an integer, and this is `%s`", type_text(p->arena, index->type));
    return unknown(p, position);
}

static struct expr *read_step_after(struct parser *p, struct expr *place)
{
    struct position position = p->token->at;
    enum operation op = sees(p, "++") ? OP_ADD : OP_SUBTRACT;
    go_past(p);
    return build_update(p, op, place, integer(p, type_basic(TYPE_INT), 1, position), true,
                        position);
}

static struct expr *read_postfix(struct parser *p)
{
    struct expr *e = read_primary(p);
    for (;;) {
        if (sees(p, "[")) {
            e = read_index(p, e);
        } else if (sees(p, "++") || sees(p, "--")) {
            e = read_step_after(p, e);
        } else if (sees(p, "(")) {
            complain(p, e->at, NULL, "what stands before ( is no function");
            e = skip_call(p, p->previous);
        } else {
            if ((sees(p, ".") || sees(p, "->")) && is_unknown(e)) give_up(p);
            if (sees(p, "::")) refuse(p, p->token, "a name with ::");
            if (!sees(p, ".") && !sees(p, "->")) return e;
            if (is_dim3(e->type)) refuse(p, p->token, "a member of a dim3");
            e = read_member(p, e);
        }
    }
}

/* ---- operators of two operands --------------------------------------------------------------- */

enum { AND_THEN = -1, OR_ELSE = -2 };

/* What an operator does, and how strongly it binds. */
static const struct row {
    const char *text;
    int operation, strength;
} ROWS[] = {{"||", OR_ELSE, 1},
            {"&&", AND_THEN, 2}, {"|", OP_OR, 3}, {"^", OP_XOR, 4}, {"&", OP_AND, 5},
            {"==", OP_EQUAL, 6}, {"!=", OP_NOT_EQUAL, 6}, {"<", OP_LESS, 7},
            {"<=", OP_LESS_EQUAL, 7}, {">", OP_GREATER, 7}, {">=", OP_GREATER_EQUAL, 7},
            {"<<", OP_SHIFT_LEFT, 8}, {">>", OP_SHIFT_RIGHT, 8}, {"+", OP_ADD, 9},
            {"-", OP_SUBTRACT, 9}, {"*", OP_MULTIPLY, 10}, {"/", OP_DIVIDE, 10},
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

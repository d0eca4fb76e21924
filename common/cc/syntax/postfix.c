/* postfix.c — names, parentheses, and what follows them: calls, indices, ++. */
#include "parser.h"

/* Goes past arguments in parentheses whose function is not known. */
static struct expr *skip_call(struct parser *p, struct token *name)
{
    if (sees(p, "(")) p->token = after_bracket(p->token);
    return unknown(p, name->at);
}

static struct expr *of_host(struct parser *p, struct token *token, const struct name *name)
{
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
    if (sees(p, "<<<"))
        stumble(p, p->token->at, "only host code launches kernels",
                "`<<<` launches a kernel, and this is device code");
    else
        complain(p, token->at, "write ( and ) after it, with its arguments between them",
                 "the function `%s` is named here, but not called", function->name);
    return unknown(p, token->at);
}

static struct expr *of_template(struct parser *p, struct token *token, struct template *template)
{
    if (!sees(p, "<")) {
        complain(p, token->at, "as in f<4>(x)", "`%s` is a template: its arguments are missing",
                 text_of(p, token));
        return skip_call(p, token);
    }
    struct function *instance = read_instance(p, template, token);
    return instance == NULL ? skip_call(p, token) : of_function(p, token, instance);
}

/* What was refused before; after it also <…> of a template, or a member. */
static struct expr *of_refused(struct parser *p, struct token *token)
{
    if (sees(p, "<") || sees(p, "::")) give_up(p);
    return skip_call(p, token);
}

static struct expr *of_symbol(struct parser *p, struct token *token, const struct name *name)
{
    if (name->symbol->type->kind == TYPE_UNKNOWN) return unknown(p, token->at);
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
    if (name == NULL) return of_unknown(p, token);
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

struct expr *read_postfix(struct parser *p)
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
            if (sees(p, ".") || sees(p, "->")) refuse(p, p->token, "a member of a struct");
            if (sees(p, "::")) refuse(p, p->token, "a name with ::");
            return e;
        }
    }
}

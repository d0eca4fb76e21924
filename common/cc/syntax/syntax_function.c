/* syntax_function.c — kernels and device functions. */
#include "parser.h"

#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------ */

static void check_parameter(struct parser *p, const struct specifiers *s, struct symbol *symbol)
{
    bool no_size = symbol->type->kind == TYPE_VOID || symbol->type->kind == TYPE_HOST;
    if (s->is_shared || s->is_constant || s->is_device)
        complain(p, symbol->at, "declare it in the function",
                 "a parameter is not __shared__: each thread has its own");
    if (no_size)
        complain(p, symbol->at, NULL, "a parameter cannot be of type `%s`",
                 type_text(p->arena, symbol->type));
}

static struct symbol *read_parameter(struct parser *p)
{
    if (sees(p, "...")) refuse(p, p->token, "a function of any number of arguments");
    const struct specifiers s = read_specifiers(p);
    const struct declarator d = read_declarator(p, &s);
    struct symbol *symbol = ARENA_NEW(p->arena, struct symbol);
    symbol->kind = SYMBOL_PARAMETER;
    symbol->name = symbol->mangled = d.name == NULL ? "" : text_of(p, d.name);
    symbol->at = d.name == NULL ? s.begin->at : d.name->at;
    symbol->type = d.type;
    if (d.type->kind == TYPE_ARRAY) symbol->type = type_pointer(p->arena, d.type->base);
    symbol->align = type_align(symbol->type);
    check_parameter(p, &s, symbol);
    if (d.name != NULL && p->stumbled_at == NULL) add_name(p, NAME_SYMBOL, d.name)->symbol = symbol;
    if (takes(p, "=")) {
        struct expr *value = fit(p, read_assignment(p), symbol->type, "the default");
        symbol->initials = ARENA_NEW(p->arena, struct initial);
        symbol->initials->value = value;
        if (!is_constant(value)) refuse(p, p->previous, "a default that is no constant");
    }
    return symbol;
}

static void read_parameters(struct parser *p, struct function *function)
{
    struct symbol **last = &function->parameters;
    needs(p, "(");
    if (sees(p, "void") && next_is(p, ")")) go_past(p);
    while (!sees(p, ")") && p->stumbled_at == NULL) {
        *last = read_parameter(p);
        last = &(*last)->next;
        function->parameter_count++;
        if (!takes(p, ",")) break;
    }
    needs(p, ")");
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void check_head(struct parser *p, const struct specifiers *s, const struct function *f)
{
    if (f->is_kernel && f->result->kind != TYPE_VOID && f->result->kind != TYPE_UNKNOWN)
        complain(p, f->at, "a kernel stores its results in memory: write void",
                 "the kernel `%s` cannot return a `%s`", f->name, type_text(p->arena, f->result));
    if (s->is_global && (s->is_device || s->is_host))
        complain(p, f->at, NULL, "`%s` is either __global__ or __device__", f->name);
    if (s->is_shared || s->is_constant)
        complain(p, f->at, NULL, "the function `%s` cannot be __shared__ or __constant__", f->name);
    if (s->max_threads > 0 && !s->is_global)
        complain(p, f->at, NULL, "__launch_bounds__ is for kernels");
    if (f->result->kind == TYPE_ARRAY)
        complain(p, f->at, NULL, "a function cannot return an array");
}

static bool same_parameters(const struct function *a, const struct function *b)
{
    const struct symbol *x = a->parameters, *y = b->parameters;
    for (; x != NULL && y != NULL && type_same(x->type, y->type); x = x->next, y = y->next) {}
    return x == NULL && y == NULL && type_same(a->result, b->result);
}

/* What the name was declared as before, which gets this head; else the new function. */
static struct function *declare(struct parser *p, struct token *token, struct function *function)
{
    const struct name *name = find_name(p, token);
    if (name == NULL || name->kind != NAME_FUNCTION) {
        add_name(p, NAME_FUNCTION, token)->function = function;
        return p->stumbled_at == NULL ? function : NULL;
    }
    struct function *before = name->function;
    if (!same_parameters(before, function)) {
        refuse_overload(p, token);
        return NULL;
    }
    if (before->body != NULL && sees(p, "{")) {
        complain(p, token->at, NULL, "`%s` has a body already, in line %d", function->name,
                 before->at.line);
        return function; /* the list of functions holds each of them once */
    }
    function->is_called = before->is_called;
    if (sees(p, "{")) *before = *function;
    return before;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Does the statement never go on to what follows it? A rough answer, for a warning. */
static bool leaves(const struct stmt *stmt)
{
    if (stmt == NULL) return false;
    switch (stmt->kind) {
    case STMT_RETURN: return true;
    case STMT_IF: return leaves(stmt->body) && leaves(stmt->otherwise);
    case STMT_FOR: return stmt->value == NULL;
    case STMT_DO:
    case STMT_SWITCH: return leaves(stmt->body);
    case STMT_BLOCK:
        for (stmt = stmt->body; stmt != NULL; stmt = stmt->next)
            if (leaves(stmt)) return true;
        return false;
    default: return false;
    }
}

static void read_body(struct parser *p, struct function *function)
{
    p->function = function;
    *p->last_function = function;
    p->last_function = &function->next;
    int depth = p->depth;
    p->depth = 0;
    p->in_switch = NULL;
    p->loops = 0;
    function->body = read_block(p);
    bool gives = function->result->kind != TYPE_VOID && function->result->kind != TYPE_UNKNOWN;
    if (gives && !leaves(function->body) && !p->leaves_function)
        remark(p, function->at, NULL, "`%s` can end without a return", function->name);
    p->depth = depth;
    p->leaves_function = false;
    p->function = NULL;
}

static void put_off(struct parser *p, struct function *function)
{
    struct body *body = ARENA_NEW(p->arena, struct body);
    *body = (struct body){function, p->token, p->scope, NULL};
    *p->last_body = body;
    p->last_body = &body->next;
}

void read_bodies(struct parser *p)
{
    for (struct body *body = p->bodies; body != NULL; body = body->next) {
        p->token = body->begin;
        p->scope = body->scope;
        read_body(p, body->function);
        p->scope = p->global;
    }
}

struct function *read_function(struct parser *p, const struct specifiers *s, struct declarator d,
                               const struct template *template, struct expr **arguments)
{
    struct function *function = ARENA_NEW(p->arena, struct function);
    *function = (struct function){.at = d.name->at,
                                  .result = d.type,
                                  .is_kernel = s->is_global,
                                  .is_static = s->is_static,
                                  .max_threads = s->max_threads,
                                  .min_blocks = s->min_blocks};
    function->name = text_of(p, d.name);
    begin_scope(p);
    read_parameters(p, function);
    struct scope *scope = p->scope;
    end_scope(p);
    if (p->stumbled_at != NULL) return NULL;
    check_head(p, s, function);
    bool is_c = p->c_names > 0 && template == NULL;
    function->mangled =
        is_c ? function->name : mangle_function(p->arena, function, template, arguments);
    if (template == NULL) function = declare(p, d.name, function);
    if (function == NULL) return NULL;
    if (!sees(p, "{")) return needs(p, ";"), function;
    struct scope *outer = p->scope;
    p->scope = scope;
    if (template != NULL)
        put_off(p, function);
    else
        read_body(p, function);
    p->scope = outer;
    return function;
}

/* ---- who calls whom -------------------------------------------------------------------------- */

void note_call(struct parser *p, struct function *callee, struct position position)
{
    struct call *call = ARENA_NEW(p->arena, struct call);
    *call = (struct call){p->function, callee, position, p->calls};
    p->calls = call;
}

enum { UNSEEN, ON_THE_WAY, SEEN };

static void visit(struct parser *p, struct function *function)
{
    function->state = ON_THE_WAY;
    for (const struct call *call = p->calls; call != NULL; call = call->next) {
        if (call->caller != function) continue;
        if (call->callee->state == ON_THE_WAY)
            complain(p, call->at, NULL,
                     "`%s` calls itself here: nvcc accepts this, the page's compiler does not",
                     call->callee->name);
        else if (call->callee->state == UNSEEN)
            visit(p, call->callee);
    }
    function->state = SEEN;
}

void check_calls(struct parser *p)
{
    for (const struct call *call = p->calls; call != NULL; call = call->next)
        if (call->callee->body == NULL)
            complain(p, call->at, NULL, "`%s` is declared, but has no body", call->callee->name);
    for (struct function *f = p->unit->functions; f != NULL; f = f->next)
        if (f->state == UNSEEN) visit(p, f);
}

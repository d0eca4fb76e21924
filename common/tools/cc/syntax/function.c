/*
 * function.c — a text's functions, and host code, which is skipped.
 */
#include "ast.h"
#include "parser.h"
#include "common/tools/cc/cc.h"
#include <string.h>

/* ---- host code ------------------------------------------------------------------------------- */

/* It is skipped but for what the device's code needs: its types and constants, and the instances of
 * kernels that it launches or names. */

/* The token after `__launch_bounds__(…)` and the like, or the same one. */
static struct token *after_numbers(struct token *token)
{
    static const char *const WORDS[] = {"__launch_bounds__", "__align__", "alignas",
                                        "__attribute__"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (is_token(token, WORDS[i]) && is_token(token->next, "("))
            return after_numbers(after_bracket(token->next));
    return token;
}

/* Does what is declared, or its parameters, begin here? */
static bool ends_head(const struct token *token)
{
    return token->kind == TOKEN_END ||
           (token->kind == TOKEN_MARK && strchr("(=[;{", *token->text) != NULL);
}

struct token *declared_name(struct token *token)
{
    struct token *name = NULL;
    for (; !ends_head(token = after_numbers(token)); token = token->next)
        if (token->kind == TOKEN_NAME) name = token;
    return name;
}

/* Does the declaration at `token` speak of the device: __global__, __device__ …? */
static bool is_for_device(struct token *token)
{
    static const char *const WORDS[] = {"__global__", "__device__", "__constant__", "__shared__",
                                        "__managed__"};
    for (; !ends_head(token = after_numbers(token)); token = token->next)
        for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
            if (is_token(token, WORDS[i])) return true;
    return false;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Kernel name<…>, whose arguments may depend on what only the host knows. */
static void ask_for_instance(struct parser *p, const struct token *token, struct template *template)
{
    struct token *begin = token->next;
    p->token = begin;
    try_quietly(p);
    struct expr **arguments = read_template_arguments(p, template, token);
    if (was_right(p, begin) && arguments != NULL)
        instance_of(p, template, arguments, token->at);
    else
        remark(p, token->at, NULL,
               "the arguments of `%s` are no constants here, so that this instance is not compiled",
               text_of(p, token));
}

/* Commas between the arguments of a launch; -1: this cannot be counted, because of templates. */
static int count_arguments(const struct token *token)
{
    int depth = 0, commas = 0;
    if (is_token(token->next, ")")) return 0;
    for (; token->kind != TOKEN_END; token = token->next) {
        if (token->kind != TOKEN_MARK) continue;
        if (*token->text == '<') return -1;
        if (token->length == 1) {
            depth += strchr("([{", *token->text) != NULL;
            depth -= strchr(")]}", *token->text) != NULL;
        }
        if (depth == 0) return commas + 1;
        commas += depth == 1 && is_token(token, ",");
    }
    return -1;
}

static void check_arguments(struct parser *p, const struct token *name, const struct function *f)
{
    const struct token *token = name->next;
    while (token->kind != TOKEN_END && !is_token(token, ">>>") && !is_token(token, ";"))
        token = token->next;
    if (!is_token(token, ">>>") || !is_token(token->next, "(")) return;
    int count = count_arguments(token->next), least = 0;
    for (const struct symbol *s = f->parameters; s != NULL; s = s->next)
        least += s->initials == NULL;
    if (count >= 0 && (count < least || count > f->parameter_count))
        complain(p, name->at, NULL, "the kernel `%s` takes %d argument%s, and gets %d", f->name,
                 f->parameter_count, f->parameter_count == 1 ? "" : "s", count);
}

static void check_launch(struct parser *p, const struct token *token)
{
    const struct name *name = find_name(p, token);
    const char *text = text_of(p, token);
    if (name == NULL)
        complain(p, token->at, nearest_name(p, token), "there is no kernel `%s` before this", text);
    else if (name->kind == NAME_REFUSED)
        return;
    else if (name->kind == NAME_HOST && name->is_function)
        complain(p, name->at, "write __global__ before it",
                 "`%s` is launched with <<< >>>, but it is no kernel", text);
    else if (name->kind == NAME_TEMPLATE && name->template->is_kernel)
        complain(p, token->at, "as in f<4><<<blocks, threads>>>(x)",
                 "the kernel `%s` is a template: its arguments are missing", text);
    else if (name->kind == NAME_FUNCTION && name->function->is_kernel)
        check_arguments(p, token, name->function);
    else
        complain(p, token->at, "only a __global__ function is launched",
                 "`%s` is launched with <<< >>>, but it is no kernel", text);
}

/* auto kernel = …; which then stands for one of several. */
static bool is_variable(struct parser *p, const struct token *from, const struct token *token)
{
    const char *text = text_of(p, token);
    for (; from != token; from = from->next)
        if (is_token(from, "auto") && is_token(from->next, text)) return true;
    return false;
}

static void find_launches(struct parser *p, const struct token *from, const struct token *to)
{
    struct token *here = p->token;
    for (const struct token *t = from; t != to && t->kind != TOKEN_END; t = t->next) {
        if (t->kind != TOKEN_NAME) continue;
        const struct name *name = find_name(p, t);
        bool kernel = name != NULL && name->kind == NAME_TEMPLATE && name->template->is_kernel;
        if (kernel && is_token(t->next, "<"))
            ask_for_instance(p, t, name->template);
        else if (is_token(t->next, "<<<") && !is_variable(p, from, t))
            check_launch(p, t);
    }
    p->token = here;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* A typedef of a type that the subset has. */
static bool read_typedef(struct parser *p)
{
    struct token *begin = p->token;
    struct declarator d = {0};
    try_quietly(p);
    const struct specifiers s = read_specifiers(p);
    d = read_declarator(p, &s);
    needs(p, ";");
    if (!was_right(p, begin) || d.name == NULL) return false;
    add_name(p, NAME_TYPE, d.name)->type = d.type;
    return true;
}

static const struct type *host_type(struct parser *p, const struct token *name)
{
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = (struct type){.kind = TYPE_HOST, .name = text_of(p, name)};
    return type;
}

/* const int N = 4; whose value is known: device code may use it. */
static bool read_constant_variable(struct parser *p)
{
    struct token *begin = p->token;
    struct expr *value = NULL;
    try_quietly(p);
    const struct specifiers s = read_specifiers(p);
    const struct declarator d = read_declarator(p, &s);
    bool simple = d.name != NULL && type_is_arithmetic(d.type) && d.type->is_const && sees(p, "=");
    if (simple) {
        go_past(p);
        value = fit(p, read_assignment(p), d.type, "the initial value");
        needs(p, ";");
    }
    bool right = was_right(p, begin) && simple && is_constant(value);
    if (right)
        add_name(p, NAME_CONSTANT, d.name)->constant = value;
    else
        p->token = begin;
    return right;
}

/* The end of the declaration: its semicolon, or the } of a function. */
static void go_past_declaration(struct parser *p, bool is_function)
{
    while (p->token->kind != TOKEN_END && !takes(p, ";")) {
        if (sees(p, "}") || is_outside(p->token)) return;
        bool bracket = sees(p, "{") || sees(p, "(") || sees(p, "[");
        struct token *begin = p->token;
        if (bracket)
            p->token = after_bracket(begin);
        else
            go_past(p);
        if (!bracket || !is_token(begin, "{")) continue;
        find_launches(p, begin, p->token);
        if (is_function) return;
    }
}

static void note_host_name(struct parser *p, struct token *name)
{
    const struct name *before = find_name(p, name);
    if (before != NULL && before->kind != NAME_HOST) return;
    struct name *host = add_name(p, NAME_HOST, name);
    host->is_function = is_token(name->next, "(");
    bool is_whole = !host->is_function || is_token(after_bracket(name->next), "{");
    host->begin = is_whole ? p->token : before != NULL ? before->begin : NULL;
    host->is_again = before != NULL &&
                     (before->is_again || (host->is_function && is_whole && before->begin != NULL));
}

static bool is_struct(const struct token *token)
{
    return is_token(token, "struct") || is_token(token, "union") || is_token(token, "class");
}

/* Goes past a declaration of host code; makes the instances that it launches. */
static void skip_host(struct parser *p)
{
    struct token *begin = p->token;
    bool is_typedef = sees(p, "typedef"), is_const = false;
    if (is_typedef && read_typedef(p)) return;
    if (is_typedef && next_is(p, "struct")) {
        go_past(p);
        struct type *type = (struct type *)(uintptr_t)read_struct(p);
        if (type != NULL && p->token->kind == TOKEN_NAME) {
            if (*type->name == 0) type->name = text_of(p, p->token);
            add_name(p, NAME_TYPE, p->token)->type = type;
            go_past(p);
            needs(p, ";");
            return;
        }
        p->token = begin;
    }
    for (const struct token *t = begin; t->kind == TOKEN_NAME; t = t->next)
        is_const |= is_token(t, "const") || is_token(t, "constexpr");
    if (is_const && read_constant_variable(p)) return;

    struct token *name = declared_name(begin);
    bool defines = is_struct(begin) && name != NULL && begin->next == name;
    if (defines) {
        struct name *tag = find_tag(p, name);
        const struct type *type = read_struct(p);
        if (tag == NULL) tag = add_name(p, NAME_TAG, name);
        if (type != NULL || tag->type == NULL) tag->type = type ? type : host_type(p, name);
    } else if (is_typedef) {
        while (p->token->kind != TOKEN_END && !sees(p, ";")) {
            if (sees(p, "{")) p->token = after_bracket(p->token);
            if (p->token->kind == TOKEN_NAME && (next_is(p, ";") || next_is(p, "(")))
                add_name(p, NAME_TYPE, p->token)->type = host_type(p, p->token);
            if (!sees(p, ";")) go_past(p);
        }
    } else if (name != NULL && name->kind == TOKEN_NAME) {
        note_host_name(p, name);
    }
    bool is_function = !defines && !is_typedef && name != NULL && is_token(name->next, "(");
    go_past_declaration(p, is_function);
}

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

void read_parameters(struct parser *p, struct function *function)
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
    bool gives = function->result->kind != TYPE_VOID && function->result->kind != TYPE_UNKNOWN &&
                 !(function->is_host && strcmp(function->name, "main") == 0);
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

static void read_bodies(struct parser *p)
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
                                  .is_host = p->is_program && template == NULL,
                                  .is_device = s->is_device && !s->is_host,
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
    if (!sees(p, "{")) {
        function->is_outside = function->is_host;
        needs(p, ";");
        return function;
    }
    struct scope *outer = p->scope;
    p->scope = scope;
    if (template != NULL || function->is_host) {
        put_off(p, function);
        p->token = after_bracket(p->token);
    } else {
        read_body(p, function);
    }
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

/* Every called function has a body, and none calls itself. */
static void check_calls(struct parser *p)
{
    for (const struct call *call = p->calls; call != NULL; call = call->next)
        if (call->callee->body == NULL)
            complain(p, call->at, NULL, "`%s` is declared, but has no body", call->callee->name);
    for (struct function *f = p->unit->functions; f != NULL; f = f->next)
        if (f->state == UNSEEN) visit(p, f);
}

/* ---- the declarations of a text, one after the other ----------------------------------------- */

static void read_device(struct parser *p)
{
    struct token *begin = p->token;
    const struct specifiers s = read_specifiers(p);
    struct declarator d = read_declarator(p, &s);
    if (sees(p, "(") && d.name != NULL) {
        read_function(p, &s, d, NULL, NULL);
        return;
    }
    if (s.is_global) {
        const char *text = text_of(p, p->token);
        stumble(p, p->token->at, NULL, "the kernel's name and parameters are missing before `%s`",
                text);
    } else if (begin != p->token) {
        read_variables(p, &s, d);
    }
}

/* After template <…>: is a function of the device made by it? */
static bool template_is_for_device(const struct token *token)
{
    for (; token->kind != TOKEN_END && !is_token(token, ";") && !is_token(token, "{");
         token = token->next)
        if (is_token(token, "__global__") || is_token(token, "__device__")) return true;
    return false;
}

static bool defines_enum(const struct token *token)
{
    return is_token(token, "enum") &&
           (is_token(token->next, "{") ||
            (token->next->kind == TOKEN_NAME && is_token(token->next->next, "{")));
}

static void read_outer_enum(struct parser *p)
{
    read_enum(p);
    if (p->stumbled_at != NULL) return;
    if (p->token->begins_line || sees(p, ";"))
        needs(p, ";");
    else
        while (p->token->kind != TOKEN_END && !takes(p, ";")) go_past(p);
}

static void read_namespace(struct parser *p)
{
    const struct token *word = p->token;
    while (p->token->kind != TOKEN_END && !sees(p, ";") && !sees(p, "{")) go_past(p);
    if (takes(p, ";")) return; /* using namespace std; */
    refuse(p, word, "a namespace");
}

/* extern "C", before one declaration or a block of them. */
static bool take_c_names(struct parser *p, int *blocks)
{
    if (!sees(p, "extern") || p->token->next->kind != TOKEN_STRING) return false;
    go_past(p);
    go_past(p);
    p->c_names++;
    if (!takes(p, "{")) return false;
    ++*blocks;
    return true;
}

static void read_declaration(struct parser *p)
{
    if (sees(p, "template")) {
        if (template_is_for_device(p->token))
            read_template(p);
        else
            skip_host(p);
    } else if (sees(p, "static_assert")) {
        read_static_assert(p);
    } else if (sees(p, "namespace") || sees(p, "using")) {
        read_namespace(p);
    } else if (is_for_device(p->token)) {
        read_device(p);
    } else if (defines_enum(p->token)) {
        read_outer_enum(p);
    } else if (p->is_program && !sees(p, "typedef")) {
        read_device(p);
    } else {
        skip_host(p);
    }
}

static void read_file(struct parser *p)
{
    int blocks = 0; /* extern "C" { */
    while (p->token->kind != TOKEN_END && !enough_errors(p->diagnostics)) {
        struct token *begin = p->token;
        if (takes(p, ";")) continue;
        if (sees(p, "}")) {
            if (blocks > 0)
                blocks--, p->c_names--;
            else
                complain(p, p->token->at, "each } needs its {", "this } closes nothing");
            go_past(p);
            continue;
        }
        if (p->token->kind == TOKEN_PRAGMA) {
            do go_past(p);
            while (p->token->kind != TOKEN_PRAGMA && p->token->kind != TOKEN_END);
            go_past(p);
            continue;
        }
        int before = p->c_names;
        if (take_c_names(p, &blocks)) continue;
        read_declaration(p);
        if (p->stumbled_at != NULL) add_refused(p, declared_name(begin));
        get_up(p);
        p->c_names = before;
        if (p->token == begin) go_past(p);
    }
}

/* `program` begins with three names: main, dim3, and that of the kernel. */
static void read_program(struct parser *p, struct token *program)
{
    const struct name *name = program != NULL ? find_name(p, program) : NULL;
    if (name == NULL || name->kind != NAME_HOST || name->begin == NULL || !name->is_function)
        return;
    p->is_program = true;
    p->token = program->next->next->next;
    read_file(p);
    struct name *dim3 = find_name(p, program->next), *entry = find_name(p, program->next->next);
    if (dim3 == NULL || dim3->kind != NAME_TYPE) return; /* the text has declared it */
    if (entry == NULL || entry->kind != NAME_FUNCTION) return;
    entry->function->mangled = CC_MAIN;
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = *dim3->type;
    type->name = dim3->text;
    dim3->type = type;
}

/* The instances that the caller of the compiler asks for. */
static void read_wanted(struct parser *p, struct token *token)
{
    const struct name *name = find_name(p, token);
    p->token = token->next;
    p->previous = token;
    if (name == NULL || name->kind != NAME_TEMPLATE || !sees(p, "<"))
        complain(p, token->at, NULL, "there is no template `%s`", text_of(p, token));
    else
        read_instance(p, name->template, token);
    p->stumbled_at = NULL;
}

/* The end of the tokens is followed by itself, so that one may look past a token always. */
static void close_end(struct token *token)
{
    while (token->kind != TOKEN_END) token = token->next;
    token->next = token;
}

struct unit *parse(struct token *first, struct token *const *wanted, size_t wanted_count,
                   struct token *program, struct diagnostics *d)
{
    struct parser *p = ARENA_NEW(d->arena, struct parser);
    struct unit *unit = ARENA_NEW(d->arena, struct unit);
    *unit = (struct unit){.sources = d->sources, .diagnostics = d, .arena = d->arena};
    *p = (struct parser){.arena = d->arena, .diagnostics = d, .token = first, .previous = first};
    p->unit = unit;
    p->last_function = &unit->functions;
    p->last_body = &p->bodies;
    close_end(first);
    for (size_t i = 0; i < wanted_count; i++) close_end(wanted[i]);
    if (program != NULL) close_end(program);
    begin_scope(p);
    p->global = p->scope;
    declare_vectors(p);
    read_file(p);
    for (size_t i = 0; i < wanted_count; i++) read_wanted(p, wanted[i]);
    read_program(p, program);
    read_bodies(p);
    check_calls(p);
    return unit;
}

/*
 * call.c — calls of functions, and templates.
 */
#include "parser.h"
#include <string.h>

/* ---- templates on integers, bools, enums and types ------------------------------------------- */

/*
 * A template is kept as its tokens; each instance reads them once more, with the parameters as
 * constants or types.
 */

enum { MOST_INSTANCES = 200 };

/* ---- template <…> ---------------------------------------------------------------------------- */

static void read_parameter(struct parser *p, struct template *template)
{
    struct template_parameter parameter = {0};
    if (takes(p, "typename") || takes(p, "class")) {
        if (p->token->kind == TOKEN_NAME) parameter.name = p->token, go_past(p);
    } else {
        const struct specifiers s = read_specifiers(p);
        const struct declarator d = read_declarator(p, &s);
        parameter = (struct template_parameter){d.name, type_plain(p->arena, d.type), NULL};
        if (!type_is_integer(parameter.type) && p->stumbled_at == NULL)
            refuse(p, s.begin,
                   cc_format(p->arena, "a template on a `%s`", type_text(p->arena, d.type)));
    }
    if (sees(p, "...")) refuse(p, p->token, "a template of any number of parameters");
    if (takes(p, "=")) {
        parameter.otherwise = p->token;
        while (p->token->kind != TOKEN_END && !sees(p, ",") && !sees(p, ">"))
            if (sees(p, "("))
                p->token = after_bracket(p->token);
            else
                go_past(p);
    }
    template->parameters = cc_grow(p->arena, template->parameters,
                                   (size_t) template->parameter_count, sizeof(parameter));
    template->parameters[template->parameter_count++] = parameter;
}

/* Declares the template, or finds its earlier declaration. */
static void declare(struct parser *p, const struct template *read)
{
    const struct name *name = find_name(p, read->name);
    struct template *template = NULL;
    if (name != NULL && name->kind == NAME_TEMPLATE) template = name->template;
    if (template == NULL) {
        template = ARENA_NEW(p->arena, struct template);
        add_name(p, NAME_TEMPLATE, read->name)->template = template;
    } else if (template->has_body && read->has_body) {
        refuse(p, read->name, "a second template of this name");
        return;
    } else if (template->has_body) {
        return;
    }
    struct instance *instances = template->instances;
    *template = *read;
    template->instances = instances;
}

/* After the name of an instance that is asked for: template __global__ void f<4>(float *); */
static void read_explicit(struct parser *p)
{
    struct token *token = p->token;
    while (token->kind != TOKEN_END && !is_token(token, ";") && !is_token(token, "(") &&
           !is_token(token, "<"))
        p->previous = token, token = token->next;
    struct token *begin = p->token, *name_token = p->previous;
    const struct name *name = find_name(p, name_token);
    if (name == NULL || name->kind != NAME_TEMPLATE || !is_token(token, "<")) {
        stumble(p, begin->at, NULL, "an instance of a template is missing after `template`");
        return;
    }
    p->token = token;
    read_instance(p, name->template, name_token);
    while (p->token->kind != TOKEN_END && !sees(p, ";") && p->stumbled_at == NULL) go_past(p);
    needs(p, ";");
}

static void skip_function(struct parser *p, bool *has_body)
{
    while (p->token->kind != TOKEN_END && !sees(p, ";") && !sees(p, "{")) go_past(p);
    *has_body = sees(p, "{");
    if (*has_body)
        p->token = after_bracket(p->token);
    else
        needs(p, ";");
}

void read_template(struct parser *p)
{
    struct template template = {0};
    struct token *begin = p->token;
    go_past(p);
    if (!sees(p, "<")) {
        read_explicit(p);
        return;
    }
    go_past(p);
    if (sees(p, ">")) refuse(p, p->previous, "a template's special case");
    do read_parameter(p, &template);
    while (takes(p, ","));
    needs(p, ">");
    if (p->stumbled_at != NULL) { /* the name is the function's, after all parameters */
        struct token *token = begin;
        while (token->kind != TOKEN_END && !is_token(token, ">")) token = token->next;
        add_refused(p, declared_name(token));
        return;
    }
    template.begin = p->token;
    template.name = declared_name(p->token);
    if (template.name == NULL) {
        stumble(p, p->token->at, NULL, "a function is missing after template <…>");
        return;
    }
    for (const struct token *t = template.begin; t != template.name; t = t->next)
        template.is_kernel |= is_token(t, "__global__");
    skip_function(p, &template.has_body);
    declare(p, &template);
}

/* ---- instances ------------------------------------------------------------------------------- */

/* A node that stands for a type. */
static struct expr *type_argument(struct parser *p, const struct type *type, struct position at)
{
    return new_expr(p, EXPR_NULL, type, at);
}

/* One argument; NULL after an error. */
static struct expr *read_argument(struct parser *p, const struct type *type)
{
    if (type == NULL) {
        struct position position = p->token->at;
        const struct type *argument = read_type_name(p);
        bool is_right = p->stumbled_at == NULL && argument->kind != TYPE_UNKNOWN;
        return is_right ? type_argument(p, argument, position) : NULL;
    }
    struct expr *e = fit(p, read_conditional(p), type, "this argument of the template");
    if (is_unknown(e) || p->stumbled_at != NULL) return NULL;
    if (e->kind == EXPR_INTEGER) return e;
    complain(p, e->at, "threads choose by if, and the host by switch",
             "an argument of a template has to be a constant");
    return NULL;
}

/* Parameters, as far as they are known, become constants of the innermost scope. */
static void add_constants(struct parser *p, const struct template *template,
                          struct expr **arguments)
{
    for (int i = 0; i < template->parameter_count && arguments[i] != NULL; i++) {
        const struct template_parameter *parameter = &template->parameters[i];
        if (parameter->name == NULL) continue;
        if (parameter->type != NULL) {
            add_name(p, NAME_CONSTANT, parameter->name)->constant = arguments[i];
            continue;
        }
        struct type *type = ARENA_NEW(p->arena, struct type);
        *type = *arguments[i]->type;
        type->parameter = i + 1;
        add_name(p, NAME_TYPE, parameter->name)->type = type;
    }
}

/* The default of a parameter, which may use those before it. */
static struct expr *read_default(struct parser *p, const struct template *template, int number,
                                 struct expr **arguments)
{
    struct token *here = p->token, *begin = template->parameters[number].otherwise;
    if (begin == NULL) return NULL;
    bool outer = p->in_template_arguments;
    begin_scope(p);
    add_constants(p, template, arguments);
    p->token = begin;
    p->in_template_arguments = true;
    struct expr *e = read_argument(p, template->parameters[number].type);
    p->in_template_arguments = outer;
    if (p->stumbled_at == NULL)
        p->token = here;
    else
        p->stumbled_at = here;
    end_scope(p);
    return e;
}

/* ---- arguments that follow from those of the call -------------------------------------------- */

/* What the template's parameters are if a function's parameter of type `to` gets a `from`. */
static void match(struct parser *p, const struct type *to, const struct type *from, bool is_value,
                  struct expr **arguments, struct position at)
{
    if (is_value || to->is_const) from = type_plain(p->arena, from);
    if (to->parameter > 0 && arguments[to->parameter - 1] == NULL)
        arguments[to->parameter - 1] = type_argument(p, from, at);
    else if (type_is_pointer(to) && type_is_pointer(from))
        match(p, to->base, from->base, false, arguments, at);
}

/* Reads the parameters of the function, with stand-ins for what is not known, and the arguments of
 * the call that stands here. */
static void deduce(struct parser *p, struct template *template, struct expr **arguments)
{
    struct token *here = p->token, *previous = p->previous;
    struct scope *scope = p->scope;
    struct expr call = {0}, **known = arena_take(p->arena, sizeof(*known) *
                                                            (size_t)template->parameter_count);
    struct function function = {0};
    try_quietly(p);
    read_arguments(p, &call);
    struct token *end = p->token;
    p->scope = p->global;
    p->token = template->begin;
    begin_scope(p);
    for (int i = 0; i < template->parameter_count; i++) {
        known[i] = arguments[i];
        if (known[i] == NULL) known[i] = integer(p, type_basic(TYPE_INT), 1, here->at);
    }
    add_constants(p, template, known);
    const struct specifiers s = read_specifiers(p);
    read_declarator(p, &s);
    read_parameters(p, &function);
    const struct symbol *parameter = function.parameters;
    for (int i = 0; i < call.argument_count && parameter != NULL; i++, parameter = parameter->next)
        match(p, parameter->type, call.arguments[i]->type, true, arguments, here->at);
    if (was_right(p, here))
        p->kept = (struct kept){here, end, call.arguments, call.argument_count};
    p->scope = scope;
    p->token = here;
    p->previous = previous;
}

struct expr **read_template_arguments(struct parser *p, struct template *template,
                                      const struct token *name)
{
    int wanted = template->parameter_count, count = 0;
    struct expr **arguments = arena_take(p->arena, (size_t)(wanted + 1) * sizeof(struct expr *));
    bool outer = p->in_template_arguments, known = true;
    bool has_list = sees(p, "<");
    p->in_template_arguments = true;
    if (has_list) go_past(p);
    while (has_list && !sees(p, ">") && count < wanted && p->stumbled_at == NULL) {
        arguments[count] = read_argument(p, template->parameters[count].type);
        known &= arguments[count++] != NULL;
        if (!takes(p, ",")) break;
    }
    p->in_template_arguments = outer;
    if (has_list) needs(p, ">");
    if (known && count < wanted && sees(p, "(") && p->stumbled_at == NULL)
        deduce(p, template, arguments);
    for (int i = count; known && i < wanted; i++) {
        if (arguments[i] == NULL) arguments[i] = read_default(p, template, i, arguments);
        known = arguments[i] != NULL;
        if (known) continue;
        if (has_list)
            complain(p, name->at, NULL, "the template `%s` takes %d arguments, and here are %d",
                     text_of(p, name), wanted, count);
        else
            complain(p, name->at, "as in f<4>(x)",
                     "`%s` is a template: its arguments are missing", text_of(p, name));
    }
    return known && p->stumbled_at == NULL ? arguments : NULL;
}

static bool is_same_type(const struct type *a, const struct type *b)
{
    return type_same(a, b) && a->is_const == b->is_const && a->is_volatile == b->is_volatile;
}

static struct instance *find_instance(const struct template *template, struct expr **arguments)
{
    struct instance *instance = template->instances;
    for (; instance != NULL; instance = instance->next) {
        bool same = true;
        for (int i = 0; i < template->parameter_count; i++)
            same &= template->parameters[i].type != NULL
                        ? instance->arguments[i]->integer == arguments[i]->integer
                        : is_same_type(instance->arguments[i]->type, arguments[i]->type);
        if (same) break;
    }
    return instance;
}

/* Reads the template's function with the parser standing elsewhere, and comes back. */
static struct function *read_again(struct parser *p, struct template *template,
                                   struct expr **arguments)
{
    struct token *token = p->token, *previous = p->previous;
    struct scope *scope = p->scope;
    bool inside = p->in_template_arguments;
    struct function *outer = p->function, *function = NULL;
    p->token = template->begin;
    p->scope = p->global;
    p->in_template_arguments = false;
    p->function = NULL;
    begin_scope(p);
    add_constants(p, template, arguments);
    const struct specifiers s = read_specifiers(p);
    const struct declarator d = read_declarator(p, &s);
    if (d.name != NULL && sees(p, "(")) function = read_function(p, &s, d, template, arguments);
    p->stumbled_at = NULL;
    p->function = outer;
    p->in_template_arguments = inside;
    p->scope = scope;
    p->token = token;
    p->previous = previous;
    return function;
}

struct function *instance_of(struct parser *p, struct template *template, struct expr **arguments,
                             struct position position)
{
    struct instance *instance = find_instance(template, arguments);
    if (instance != NULL) return instance->function;
    if (p->instances++ >= MOST_INSTANCES) {
        complain(p, position, NULL, "there are more than %d instances of templates",
                 MOST_INSTANCES);
        return NULL;
    }
    if (!template->has_body) {
        complain(p, position, NULL, "the template `%s` has no body before this",
                 text_of(p, template->name));
        return NULL;
    }
    instance = ARENA_NEW(p->arena, struct instance);
    *instance = (struct instance){arguments, NULL, template->instances};
    template->instances = instance;
    instance->function = read_again(p, template, arguments);
    return instance->function;
}

struct function *read_instance(struct parser *p, struct template *template,
                               const struct token *name)
{
    struct expr **arguments = read_template_arguments(p, template, name);
    return arguments == NULL ? NULL : instance_of(p, template, arguments, name->at);
}

/* ---- calls of functions, and what CUDA has built in ------------------------------------------ */

/* Reads `(a, b)` into the call. */
void read_arguments(struct parser *p, struct expr *call)
{
    bool outer = p->in_template_arguments;
    if (p->kept.begin == p->token) {
        call->arguments = p->kept.arguments;
        call->argument_count = p->kept.count;
        p->token = p->kept.end;
        return;
    }
    p->in_template_arguments = false;
    needs(p, "(");
    while (!sees(p, ")") && p->stumbled_at == NULL) {
        call->arguments = cc_grow(p->arena, call->arguments, (size_t)call->argument_count,
                                  sizeof(*call->arguments));
        call->arguments[call->argument_count++] = value_of(p, read_assignment(p));
        if (!takes(p, ",")) break;
    }
    needs(p, ")");
    p->in_template_arguments = outer;
}

void wrong_count(struct parser *p, const struct expr *call, const char *name, int wanted)
{
    complain(p, call->at, NULL, "`%s` takes %d argument%s, and here %s %d", name, wanted,
             wanted == 1 ? "" : "s", call->argument_count == 1 ? "is" : "are",
             call->argument_count);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A parameter's default is the first of its initials. */
static void add_defaults(struct parser *p, struct expr *call, const struct symbol *parameter)
{
    for (int i = 0; i < call->argument_count && parameter != NULL; i++) parameter = parameter->next;
    for (; parameter != NULL && parameter->initials != NULL; parameter = parameter->next) {
        call->arguments = cc_grow(p->arena, call->arguments, (size_t)call->argument_count,
                                  sizeof(*call->arguments));
        call->arguments[call->argument_count++] = parameter->initials->value;
    }
}

struct expr *read_call(struct parser *p, struct token *name, struct function *function)
{
    struct expr *call = new_expr(p, EXPR_CALL, type_plain(p->arena, function->result), name->at);
    call->callee = function;
    read_arguments(p, call);
    if (p->stumbled_at != NULL) return unknown(p, name->at);
    if (function->is_kernel) {
        complain(p, name->at, "host code launches it: name<<<blocks, threads>>>(arguments)",
                 is_host_code(p) ? "`%s` is a kernel, and is called without <<<>>>"
                                 : "`%s` is a kernel, and cannot be called from device code",
                 function->name);
        return unknown(p, name->at);
    }
    if (is_host_code(p) && function->is_device) {
        complain(p, name->at, "write __host__ before it, too",
                 "`%s` is a __device__ function, and this is host code", function->name);
        return unknown(p, name->at);
    }
    if (is_host_code(p) && p->function->is_kernel && !function->is_outside)
        call->argument_count = function->parameter_count; /* main takes two or none */
    add_defaults(p, call, function->parameters);
    if (call->argument_count != function->parameter_count) {
        wrong_count(p, call, function->name, function->parameter_count);
        return unknown(p, name->at);
    }
    struct symbol *parameter = function->parameters;
    for (int i = 0; i < call->argument_count; i++, parameter = parameter->next)
        call->arguments[i] = fit(p, call->arguments[i], parameter->type, "this argument");
    function->is_called = true;
    if (function->is_outside) return call_host(p, call, function->name);
    note_call(p, function, name->at);
    return call;
}

/* ---- variables that are built in ------------------------------------------------------------- */

static struct expr *special(struct parser *p, struct token *name, enum special which)
{
    enum type_kind kind = which == SPECIAL_WARP_SIZE ? TYPE_INT : TYPE_UNSIGNED;
    struct expr *e = new_expr(p, EXPR_SPECIAL, type_basic(kind), name->at);
    e->special = which;
    return e;
}

/* threadIdx.x and so on; `which` is the one with .x. */
static struct expr *read_part(struct parser *p, struct token *name, enum special which)
{
    static const char *const PARTS[] = {"x", "y", "z"};
    const char *text = text_of(p, name);
    if (!takes(p, ".")) {
        complain(p, name->at, cc_format(p->arena, "write %s.x", text),
                 "`%s` has three parts: %s.x, %s.y and %s.z", text, text, text, text);
        return unknown(p, name->at);
    }
    for (int i = 0; i < 3; i++)
        if (takes(p, PARTS[i])) return special(p, name, which + (enum special)i);
    complain(p, p->token->at, NULL, "`%s` has the parts x, y and z only", text);
    if (p->token->kind == TOKEN_NAME) go_past(p);
    return unknown(p, name->at);
}

/* ---- functions that are built in ------------------------------------------------------------- */

/* `kind` is the type of arguments and result; TYPE_UNKNOWN: that of the arguments. */
static const struct built_in {
    const char *name;
    enum builtin builtin;
    int arguments;
    enum type_kind kind;
} BUILT_IN[] = {
    {"__syncthreads", BUILTIN_SYNCTHREADS, 0, TYPE_VOID}, {"min", BUILTIN_MIN, 2, TYPE_UNKNOWN},
    {"max", BUILTIN_MAX, 2, TYPE_UNKNOWN}, {"abs", BUILTIN_ABS, 1, TYPE_UNKNOWN},
    {"fminf", BUILTIN_MIN, 2, TYPE_FLOAT}, {"fmaxf", BUILTIN_MAX, 2, TYPE_FLOAT},
    {"fabsf", BUILTIN_ABS, 1, TYPE_FLOAT}, {"fmaf", BUILTIN_FMA, 3, TYPE_FLOAT},
    {"sqrtf", BUILTIN_SQRT, 1, TYPE_FLOAT}, {"fmin", BUILTIN_MIN, 2, TYPE_DOUBLE},
    {"fmax", BUILTIN_MAX, 2, TYPE_DOUBLE}, {"fabs", BUILTIN_ABS, 1, TYPE_DOUBLE},
    {"fma", BUILTIN_FMA, 3, TYPE_DOUBLE}, {"sqrt", BUILTIN_SQRT, 1, TYPE_DOUBLE}};

/* C++ has fmin, sqrt … for floats, too. */
static const struct type *type_of_call(struct parser *p, const struct built_in *b,
                                       const struct expr *call)
{
    bool floats = b->kind == TYPE_DOUBLE;
    for (int i = 0; i < call->argument_count; i++)
        floats &= call->arguments[i]->type->kind == TYPE_FLOAT;
    if (floats) return type_basic(TYPE_FLOAT);
    if (b->kind != TYPE_UNKNOWN) return type_basic(b->kind);
    struct expr *first = promote(p, call->arguments[0]);
    struct expr *second = promote(p, call->arguments[call->argument_count - 1]);
    if (!type_is_arithmetic(first->type) || !type_is_arithmetic(second->type)) return NULL;
    bool same = type_is_real(first->type) == type_is_real(second->type) &&
                (type_is_real(first->type) || type_size(first->type) == type_size(second->type));
    bool sign =
        b->builtin != BUILTIN_ABS || type_is_real(first->type) || type_is_signed(first->type);
    balance(p, &first, &second);
    return same && sign ? first->type : NULL;
}

static struct expr *read_math(struct parser *p, struct token *name, const struct built_in *b)
{
    struct expr *call = new_expr(p, EXPR_BUILTIN, type_basic(TYPE_VOID), name->at);
    call->builtin = b->builtin;
    read_arguments(p, call);
    bool known = p->stumbled_at == NULL;
    for (int i = 0; i < call->argument_count; i++) known &= !is_unknown(call->arguments[i]);
    if (known && call->argument_count != b->arguments) wrong_count(p, call, b->name, b->arguments);
    if (!known || call->argument_count != b->arguments) return unknown(p, name->at);
    if (b->arguments == 0) return call;
    const struct type *type = type_of_call(p, b, call);
    if (type == NULL) {
        complain(p, name->at, "cast one of them",
                 b->arguments == 1 ? "`%s` takes a number with a sign"
                                   : "`%s` takes two numbers of one type",
                 b->name);
        return unknown(p, name->at);
    }
    call->type = type;
    for (int i = 0; i < call->argument_count; i++) {
        call->arguments[i] = fit(p, call->arguments[i], type, "this argument");
        if (is_unknown(call->arguments[i])) return call->arguments[i];
    }
    return call;
}

/* ---- printf ---------------------------------------------------------------------------------- */

/* Is the argument what the conversion prints? `size`: of the integer that its letters name. */
static bool is_printed_by(const struct type *type, char letter, int64_t size)
{
    bool is_pointer = type_is_pointer(type) || type->kind == TYPE_NULL;
    if (type->kind == TYPE_UNKNOWN) return true;
    if (letter == 's') return is_pointer && type->base != NULL && type_size(type->base) == 1;
    if (letter == 'p') return is_pointer;
    if (strchr("aAeEfFgG", letter) != NULL) return type->kind == TYPE_DOUBLE;
    return type_is_integer(type) && type_size(type) == size;
}

/* The nth value of printf, which the conversion from `begin` to its last letter prints. */
static void check_printed(struct parser *p, const struct expr *call, int n, const char *begin,
                          const char *last, int64_t size)
{
    const struct expr *e = n < call->argument_count ? call->arguments[n] : NULL;
    if (e == NULL || is_printed_by(e->type, *last == '*' ? 'd' : *last, size)) return;
    remark(p, e->at, NULL, "%.*s in the format of printf does not print a value of type `%s`",
           (int)(last + 1 - begin), begin, type_text(p->arena, e->type));
}

/* Compares conversions such as %d, %5.2f and %*d with the values; returns how many they need. */
static int check_conversions(struct parser *p, const struct expr *call)
{
    const char *at = call->arguments[0]->string, *end = at + call->arguments[0]->length, *begin;
    int count = 0;
    while ((begin = at = memchr(at, '%', (size_t)(end - at))) != NULL) {
        for (at++; *at != 0 && strchr("-+ #0123456789.*", *at) != NULL; at++)
            if (*at == '*') check_printed(p, call, ++count, begin, at, 4);
        size_t letters = strspn(at, "hlLqjzt");
        int64_t size = letters > 0 && *at != 'h' ? 8 : 4;
        at += letters;
        if (*at == 0 || strchr("diouxXcspaAeEfFgG%", *at) == NULL) {
            remark(p, call->arguments[0]->at, "write %% for the sign itself",
                   "a %% in the format of printf begins no conversion, such as %%d or %%f");
            return -1;
        }
        if (*at != '%') check_printed(p, call, ++count, begin, at, size);
        at++;
    }
    return count;
}

/* The usual promotions of an argument that no parameter names. */
static struct expr *promote_for_printf(struct parser *p, struct expr *e)
{
    if (e->type->kind == TYPE_FLOAT) return convert(p, e, type_basic(TYPE_DOUBLE), e->at);
    if (e->type->kind == TYPE_VOID) complain(p, e->at, NULL, "this has no value to be printed");
    if (e->type->kind == TYPE_STRUCT)
        complain(p, e->at, "print its members", "printf takes no `%s`",
                 type_text(p->arena, e->type));
    if (e->type->kind == TYPE_NULL)
        return new_expr(p, EXPR_NULL, type_pointer(p->arena, type_basic(TYPE_VOID)), e->at);
    return promote(p, e);
}

/* %zu, %zd and %td, which only the host's printf knows, as %lu and %ld. */
static void write_sizes_as_long(struct expr *format)
{
    char *at = (char *)(uintptr_t)format->string;
    while ((at = strchr(at, '%')) != NULL) {
        at += 1 + strspn(at + 1, "-+ #0123456789.*");
        if (*at == 'z' || *at == 't') *at = 'l';
        at += *at != 0;
    }
}

static struct expr *read_printf(struct parser *p, struct token *name)
{
    struct expr *call = new_expr(p, EXPR_BUILTIN, type_basic(TYPE_INT), name->at);
    call->builtin = BUILTIN_PRINTF;
    if (is_token(name, "fprintf") && sees(p, "(") && p->token->next->kind == TOKEN_NAME)
        p->token = p->token->next->next; /* past `(stderr`: there is one output */
    if (!(sees(p, "(") || sees(p, ",")) || p->token->next->kind != TOKEN_STRING) {
        stumble(p, name->at, "as in printf(\"%d\\n\", i)", "printf begins with a string");
        return unknown(p, name->at);
    }
    go_past(p);
    call->arguments = cc_grow(p->arena, NULL, 0, sizeof(*call->arguments));
    call->arguments[call->argument_count++] = read_string(p);
    if (is_host_code(p)) write_sizes_as_long(call->arguments[0]);
    while (takes(p, ",")) {
        call->arguments = cc_grow(p->arena, call->arguments, (size_t)call->argument_count,
                                  sizeof(*call->arguments));
        struct expr *e = p->token->kind == TOKEN_STRING ? read_string(p) : read_assignment(p);
        e = value_of(p, e);
        call->arguments[call->argument_count++] = is_unknown(e) ? e : promote_for_printf(p, e);
    }
    needs(p, ")");
    int wanted = p->stumbled_at == NULL ? check_conversions(p, call) : -1;
    if (wanted >= 0 && wanted != call->argument_count - 1)
        remark(p, name->at, NULL, "the format of printf asks for %d value%s, and here %s %d",
               wanted, wanted == 1 ? "" : "s", call->argument_count == 2 ? "is" : "are",
               call->argument_count - 1);
    return call;
}

/* ---- by name --------------------------------------------------------------------------------- */

static struct expr *not_called(struct parser *p, struct token *name)
{
    complain(p, name->at, cc_format(p->arena, "write %s()", text_of(p, name)),
             "`%s` is named here, but not called", text_of(p, name));
    return unknown(p, name->at);
}

struct expr *read_built_in(struct parser *p, struct token *name)
{
    if (is_host_code(p) && (is_token(name, "threadIdx") || is_token(name, "blockIdx") ||
                            is_token(name, "__syncthreads")))
        stumble(p, name->at, NULL, "`%s` is for kernels only", text_of(p, name));
    if (is_host_code(p) && is_token(name, "fprintf") && sees(p, "(")) return read_printf(p, name);
    static const struct {
        const char *name;
        enum special first;
    } INDICES[] = {{"threadIdx", SPECIAL_THREAD_X},
                   {"blockIdx", SPECIAL_BLOCK_X},
                   {"blockDim", SPECIAL_BLOCK_SIZE_X},
                   {"gridDim", SPECIAL_GRID_X}};
    for (size_t i = 0; i < sizeof(INDICES) / sizeof(INDICES[0]); i++)
        if (is_token(name, INDICES[i].name)) return read_part(p, name, INDICES[i].first);
    if (is_token(name, "warpSize")) return special(p, name, SPECIAL_WARP_SIZE);
    if (is_token(name, "true") || is_token(name, "false"))
        return integer(p, type_basic(TYPE_BOOL), is_token(name, "true"), name->at);
    if (is_token(name, "nullptr")) return new_expr(p, EXPR_NULL, type_basic(TYPE_NULL), name->at);
    if (is_token(name, "printf")) return sees(p, "(") ? read_printf(p, name) : not_called(p, name);
    for (size_t i = 0; i < sizeof(BUILT_IN) / sizeof(BUILT_IN[0]); i++)
        if (is_token(name, BUILT_IN[i].name))
            return sees(p, "(") ? read_math(p, name, &BUILT_IN[i]) : not_called(p, name);
    if (!sees(p, "(")) return NULL;
    struct expr *made = read_make(p, name);
    return made != NULL || is_host_code(p) ? made : read_instruction(p, name);
}

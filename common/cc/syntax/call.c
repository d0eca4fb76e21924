/* call.c — calls of functions, and what CUDA has built in. */
#include "parser.h"

#include <string.h>

/* Reads `(a, b)` into the call. */
static void read_arguments(struct parser *p, struct expr *call)
{
    bool outer = p->in_template_arguments;
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

static void wrong_count(struct parser *p, const struct expr *call, const char *name, int wanted)
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
                 "`%s` is a kernel, and cannot be called from device code", function->name);
        return unknown(p, name->at);
    }
    add_defaults(p, call, function->parameters);
    if (call->argument_count != function->parameter_count) {
        wrong_count(p, call, function->name, function->parameter_count);
        return unknown(p, name->at);
    }
    struct symbol *parameter = function->parameters;
    for (int i = 0; i < call->argument_count; i++, parameter = parameter->next)
        call->arguments[i] = fit(p, call->arguments[i], parameter->type, "this argument");
    function->is_called = true;
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
    {"__syncthreads", BUILTIN_SYNCTHREADS, 0, TYPE_VOID},
    {"min", BUILTIN_MIN, 2, TYPE_UNKNOWN},
    {"max", BUILTIN_MAX, 2, TYPE_UNKNOWN},
    {"abs", BUILTIN_ABS, 1, TYPE_UNKNOWN},
    {"fminf", BUILTIN_MIN, 2, TYPE_FLOAT},
    {"fmaxf", BUILTIN_MAX, 2, TYPE_FLOAT},
    {"fabsf", BUILTIN_ABS, 1, TYPE_FLOAT},
    {"fmaf", BUILTIN_FMA, 3, TYPE_FLOAT},
    {"sqrtf", BUILTIN_SQRT, 1, TYPE_FLOAT},
    {"fmin", BUILTIN_MIN, 2, TYPE_DOUBLE},
    {"fmax", BUILTIN_MAX, 2, TYPE_DOUBLE},
    {"fabs", BUILTIN_ABS, 1, TYPE_DOUBLE},
    {"fma", BUILTIN_FMA, 3, TYPE_DOUBLE},
    {"sqrt", BUILTIN_SQRT, 1, TYPE_DOUBLE},
};

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
    if (e->type->kind == TYPE_NULL)
        return new_expr(p, EXPR_NULL, type_pointer(p->arena, type_basic(TYPE_VOID)), e->at);
    return promote(p, e);
}

static struct expr *read_printf(struct parser *p, struct token *name)
{
    struct expr *call = new_expr(p, EXPR_BUILTIN, type_basic(TYPE_INT), name->at);
    call->builtin = BUILTIN_PRINTF;
    if (!sees(p, "(") || p->token->next->kind != TOKEN_STRING) {
        stumble(p, name->at, "as in printf(\"%d\\n\", i)", "printf begins with a string");
        return unknown(p, name->at);
    }
    go_past(p);
    call->arguments = cc_grow(p->arena, NULL, 0, sizeof(*call->arguments));
    call->arguments[call->argument_count++] = read_string(p);
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
    return NULL;
}

/*
 * function.c — host code, which is skipped but for what the device's code needs: its types and
 * constants, and the instances of kernels that it launches or names.
 */
#include "parser.h"

#include <string.h>

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

bool is_for_device(struct token *token)
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

static void find_launches(struct parser *p, const struct token *from, const struct token *to)
{
    struct token *here = p->token;
    for (const struct token *t = from; t != to && t->kind != TOKEN_END; t = t->next) {
        if (t->kind != TOKEN_NAME) continue;
        const struct name *name = find_name(p, t);
        bool kernel = name != NULL && name->kind == NAME_TEMPLATE && name->template->is_kernel;
        if (kernel && is_token(t->next, "<"))
            ask_for_instance(p, t, name->template);
        else if (is_token(t->next, "<<<"))
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

static void note_host_name(struct parser *p, const struct token *name)
{
    const struct name *before = find_name(p, name);
    if (before != NULL && before->kind != NAME_HOST) return;
    add_name(p, NAME_HOST, name)->is_function = is_token(name->next, "(");
}

static bool is_struct(const struct token *token)
{
    return is_token(token, "struct") || is_token(token, "union") || is_token(token, "class");
}

void skip_host(struct parser *p)
{
    struct token *begin = p->token;
    bool is_typedef = sees(p, "typedef"), is_const = false;
    if (is_typedef && read_typedef(p)) return;
    for (const struct token *t = begin; t->kind == TOKEN_NAME; t = t->next)
        is_const |= is_token(t, "const") || is_token(t, "constexpr");
    if (is_const && read_constant_variable(p)) return;

    struct token *name = declared_name(begin);
    bool defines = is_struct(begin) && name != NULL && begin->next == name;
    if (defines) {
        struct name *tag = find_tag(p, name);
        if (tag == NULL) add_name(p, NAME_TAG, name)->type = host_type(p, name);
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

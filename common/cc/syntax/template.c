/*
 * template.c — templates on integers, bools and enums. A template is kept as its tokens; each
 * instance reads them once more, with the parameters as constants.
 */
#include "parser.h"

#include <string.h>

enum { MOST_INSTANCES = 200 };

/* ---- template <…> ---------------------------------------------------------------------------- */

static void read_parameter(struct parser *p, struct template *template)
{
    if (sees(p, "typename") || sees(p, "class")) refuse(p, p->token, "a template on a type");
    const struct specifiers s = read_specifiers(p);
    if (sees(p, "...")) refuse(p, p->token, "a template of any number of parameters");
    const struct declarator d = read_declarator(p, &s);
    struct template_parameter parameter = {d.name, type_plain(p->arena, d.type), NULL};
    if (!type_is_integer(parameter.type) && p->stumbled_at == NULL)
        refuse(p, s.begin,
               cc_format(p->arena, "a template on a `%s`", type_text(p->arena, d.type)));
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

/* One argument; NULL after an error. */
static struct expr *read_argument(struct parser *p, const struct type *type)
{
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
    for (int i = 0; i < template->parameter_count && arguments[i] != NULL; i++)
        if (template->parameters[i].name != NULL)
            add_name(p, NAME_CONSTANT, template->parameters[i].name)->constant = arguments[i];
}

/* The default of a parameter, which may use those before it. */
static struct expr *read_default(struct parser *p, const struct template *template, int number,
                                 struct expr **arguments)
{
    struct token *here = p->token, *begin = template->parameters[number].otherwise;
    if (begin == NULL) return NULL;
    begin_scope(p);
    add_constants(p, template, arguments);
    p->token = begin;
    struct expr *e = read_argument(p, template->parameters[number].type);
    if (p->stumbled_at == NULL) p->token = here;
    end_scope(p);
    return e;
}

struct expr **read_template_arguments(struct parser *p, struct template *template,
                                      const struct token *name)
{
    int wanted = template->parameter_count, count = 0;
    struct expr **arguments = cc_take(p->arena, (size_t)(wanted + 1) * sizeof(struct expr *));
    bool outer = p->in_template_arguments, known = true;
    p->in_template_arguments = true;
    needs(p, "<");
    while (!sees(p, ">") && count < wanted && p->stumbled_at == NULL) {
        arguments[count] = read_argument(p, template->parameters[count].type);
        known &= arguments[count++] != NULL;
        if (!takes(p, ",")) break;
    }
    for (; known && count < wanted; count++) {
        arguments[count] = read_default(p, template, count, arguments);
        known = arguments[count] != NULL;
        if (!known)
            complain(p, name->at, NULL, "the template `%s` takes %d arguments, and here are %d",
                     text_of(p, name), wanted, count);
    }
    p->in_template_arguments = outer;
    needs(p, ">");
    return known && p->stumbled_at == NULL ? arguments : NULL;
}

static struct instance *find_instance(const struct template *template, struct expr **arguments)
{
    struct instance *instance = template->instances;
    for (; instance != NULL; instance = instance->next) {
        bool same = true;
        for (int i = 0; i < template->parameter_count; i++)
            same &= instance->arguments[i]->integer == arguments[i]->integer;
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

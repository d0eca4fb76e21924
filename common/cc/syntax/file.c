/* file.c — the declarations of a text, one after the other. */
#include "parse.h"
#include "parser.h"

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
                   struct diagnostics *d)
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
    begin_scope(p);
    p->global = p->scope;
    read_file(p);
    for (size_t i = 0; i < wanted_count; i++) read_wanted(p, wanted[i]);
    read_bodies(p);
    check_calls(p);
    return unit;
}

/* syntax_parser.c — going through the tokens, and saying what is wrong. */
#include "parser.h"

#include <string.h>

enum { DEEPEST = 200 };

bool sees(const struct parser *p, const char *text) { return is_token(p->token, text); }

bool next_is(const struct parser *p, const char *text)
{
    return p->token->next != NULL && is_token(p->token->next, text);
}

void go_past(struct parser *p)
{
    if (p->token->kind == TOKEN_END) return;
    p->previous = p->token;
    p->token = p->token->next;
}

bool takes(struct parser *p, const char *text)
{
    if (!sees(p, text)) return false;
    go_past(p);
    return true;
}

const char *text_of(struct parser *p, const struct token *token)
{
    if (token->kind == TOKEN_END) return "the end of the file";
    return cc_text(p->arena, token->text, (size_t)token->length);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void say(struct parser *p, struct position position, const char *hint, const char *text)
{
    if (p->stumbled_at != NULL || p->leaves_function) return;
    if (p->quiet > 0)
        p->unsaid++;
    else
        error_at(p->diagnostics, position, hint, "%s", text);
}

void complain(struct parser *p, struct position position, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(p, position, hint, cc_format_list(p->arena, format, arguments));
    va_end(arguments);
}

void remark(struct parser *p, struct position position, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = cc_format_list(p->arena, format, arguments);
    if (p->stumbled_at == NULL && p->quiet == 0)
        warn_at(p->diagnostics, position, hint, "%s", text);
    va_end(arguments);
}

/* Stands at an end of text, at which no rule goes on. */
void give_up(struct parser *p)
{
    if (p->stumbled_at != NULL) return;
    p->stumbled_at = p->token;
    p->end = *p->token;
    p->end.kind = TOKEN_END;
    p->end.length = 0;
    p->end.next = &p->end;
    p->token = &p->end;
}

void stumble(struct parser *p, struct position position, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(p, position, hint, cc_format_list(p->arena, format, arguments));
    va_end(arguments);
    give_up(p);
}

void refuse(struct parser *p, const struct token *token, const char *what)
{
    stumble(p, token->at, NULL, "%s: nvcc accepts this, the page's compiler does not", what);
}

void get_up(struct parser *p)
{
    if (p->stumbled_at == NULL) return;
    struct token *token = p->stumbled_at;
    p->stumbled_at = NULL;
    while (token->kind != TOKEN_END) {
        if (is_token(token, "}") && p->open_braces-- <= 0) break;
        bool block = is_token(token, "{"), semicolon = is_token(token, ";");
        token = block ? after_bracket(token) : token->next;
        if (block || semicolon) break;
    }
    p->token = token;
    p->open_braces = 0;
}

/* The place just after the previous token, where something is missing. */
static struct position after_previous(const struct parser *p)
{
    struct position position = p->previous->at;
    position.column += position.length > 0 ? position.length - 1 : 0;
    position.length = 1;
    return position;
}

static void expect_semicolon(struct parser *p)
{
    if (p->token->begins_line || sees(p, "}") || p->token->kind == TOKEN_END)
        complain(p, after_previous(p), "write ; after it", "a ; is missing after `%s`",
                 text_of(p, p->previous));
    else
        stumble(p, p->token->at, NULL, "a ; is missing before `%s`", text_of(p, p->token));
}

void needs(struct parser *p, const char *text)
{
    if (takes(p, text) || p->stumbled_at != NULL) return;
    if (strcmp(text, ";") == 0) {
        expect_semicolon(p);
    } else if (strcmp(text, ")") == 0 && (sees(p, "{") || sees(p, ";"))) {
        complain(p, after_previous(p), NULL, "a ) is missing before `%s`", text_of(p, p->token));
    } else {
        stumble(p, p->token->at, NULL, "`%s` is missing before `%s`", text, text_of(p, p->token));
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

bool enter(struct parser *p)
{
    if (p->depth < DEEPEST) return p->depth++, true;
    stumble(p, p->token->at, NULL, "this is nested too deeply for the page's compiler");
    return false;
}

void leave(struct parser *p) { p->depth--; }

bool is_outside(const struct token *token)
{
    static const char *const WORDS[] = {"__global__", "__device__", "__host__", "template"};
    if (!token->begins_line || token->kind != TOKEN_NAME) return false;
    const struct token *word = is_token(token, "static") ? token->next : token;
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (is_token(word, WORDS[i])) return true;
    return false;
}

struct token *after_bracket(struct token *open)
{
    static const char OPEN[] = "([{", CLOSE[] = ")]}";
    char opens = *open->text, closes = CLOSE[strchr(OPEN, opens) - OPEN];
    int depth = 0;
    for (struct token *token = open; token->kind != TOKEN_END; token = token->next) {
        if (opens == '{' && is_outside(token)) return token;
        if (token->kind != TOKEN_MARK || token->length != 1) continue;
        depth += (*token->text == opens) - (*token->text == closes);
        if (depth == 0) return token->next;
    }
    while (open->kind != TOKEN_END) open = open->next;
    return open;
}

void try_quietly(struct parser *p)
{
    if (p->quiet++ == 0) p->unsaid = 0;
}

bool was_right(struct parser *p, struct token *begin)
{
    bool right = p->unsaid == 0 && p->stumbled_at == NULL;
    p->quiet--;
    p->stumbled_at = NULL;
    if (!right) p->token = begin;
    return right;
}

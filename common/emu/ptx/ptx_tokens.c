/* ptx_tokens.c — the parser's tools: the current token, errors, and memory. */
#include "parser.h"
#include <stdarg.h>
#include <string.h>

_Noreturn void parse_fail(struct parser *p, unsigned line, int error, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(p->message, p->message_size, "%s, line %u: %s", p->name, line, text);
    p->error = error;
    longjmp(p->failed, 1);
}

void *take(struct parser *p, size_t bytes)
{
    void *memory = arena_take(p->arena, bytes);
    if (!memory)
        parse_fail(p, p->token.line, EMU_OUT_OF_MEMORY, "out of memory while reading the PTX");
    return memory;
}

const char *copy_text(struct parser *p, const char *text, size_t length)
{
    const char *copy = arena_text(p->arena, text, length);
    if (!copy)
        parse_fail(p, p->token.line, EMU_OUT_OF_MEMORY, "out of memory while reading the PTX");
    return copy;
}

/* Reads the character behind a \, or up to three octal digits. Returns what follows. */
static const char *read_escape(const char *from, const char *end, char *to)
{
    static const char marks[] = "btnfr", values[] = "\b\t\n\f\r";
    unsigned value = 0, digits = 0;
    for (; digits < 3 && from < end && *from >= '0' && *from <= '7'; digits++)
        value = 8 * value + (unsigned)(*from++ - '0');
    const char *mark = digits == 0 ? memchr(marks, *from, sizeof marks - 1) : NULL;
    *to = digits > 0 ? (char)value : mark != NULL ? values[mark - marks] : *from;
    return digits > 0 ? from : from + 1;
}

const char *copy_string(struct parser *p)
{
    const char *from = p->token.start, *end = from + p->token.length;
    char *copy = (char *)copy_text(p, from, p->token.length), *to = copy;
    while (from < end) {
        if (*from == '\\' && from + 1 < end)
            from = read_escape(from + 1, end, to++);
        else
            *to++ = *from++;
    }
    *to = '\0';
    return copy;
}

void *list_add(struct parser *p, struct list *list)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        void *items = take(p, room * list->size);
        if (list->count) memcpy(items, list->items, list->count * list->size);
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + list->size * list->count++;
}

void advance(struct parser *p)
{
    p->token = lexer_next(&p->lexer);
    if (p->token.kind == TOKEN_BAD)
        parse_fail(
            p, p->token.line, EMU_INVALID_PTX,
            "this is not PTX: a stray byte, a malformed number or one of more than 64 bits, or a "
            "string or "
            "comment that does not end");
}

_Noreturn void fail_expected(struct parser *p, const char *what)
{
    int length = p->token.length > 40 ? 40 : (int)p->token.length;
    if (p->token.kind == TOKEN_END)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "expected %s, but the text ends here", what);
    parse_fail(p, p->token.line, EMU_INVALID_PTX, "expected %s, not '%.*s'", what, length,
               p->token.start);
}

bool at(struct parser *p, const char *text) { return token_is(&p->token, text); }

bool accept(struct parser *p, const char *text)
{
    if (!at(p, text)) return false;
    advance(p);
    return true;
}

void expect(struct parser *p, const char *text)
{
    if (!accept(p, text)) fail_expected(p, text);
}

uint64_t expect_integer(struct parser *p)
{
    if (p->token.kind != TOKEN_INTEGER) fail_expected(p, "a number");
    uint64_t bits = p->token.bits;
    advance(p);
    return bits;
}

const char *expect_word(struct parser *p, const char *what)
{
    if (p->token.kind != TOKEN_WORD) fail_expected(p, what);
    const char *word = copy_text(p, p->token.start, p->token.length);
    advance(p);
    return word;
}

bool same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && !memcmp(a, b, a_length);
}

enum ptx_type type_of_directive(const struct token *token)
{
    char word[8];
    if (token->kind != TOKEN_WORD || token->length < 2 || token->length > sizeof word ||
        token->start[0] != '.')
        return PTX_NONE;
    memcpy(word, token->start + 1, token->length - 1);
    word[token->length - 1] = '\0';
    return ptx_type_named(word);
}

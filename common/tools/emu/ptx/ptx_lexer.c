/* ptx_lexer.c — words of PTX text, and the parser's tools. */
#define _GNU_SOURCE /* strtod_l */
#include "parser.h"
#include <locale.h>
#include <stdarg.h>
#include <string.h>

/* ---- words of a text ------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

/* Skips the comment at lexer->next. False: the comment does not end. */
static bool skip_comment(struct lexer *lexer)
{
    const char *p = lexer->next + 2;
    if (lexer->next[1] == '/') {
        const char *end = memchr(p, '\n', (size_t)(lexer->end - p));
        lexer->next = end ? end : lexer->end;
        return true;
    }
    for (; p + 1 < lexer->end && (p[0] != '*' || p[1] != '/'); p++)
        if (*p == '\n') lexer->line++;
    if (p + 1 >= lexer->end) return false;
    lexer->next = p + 2;
    return true;
}

static bool at_comment(const struct lexer *lexer)
{
    const char *p = lexer->next;
    return lexer->end - p >= 2 && p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

/* Skips white space and both kinds of comment. False: a comment does not end. */
static bool skip_blanks(struct lexer *lexer)
{
    while (lexer->next < lexer->end) {
        const char *p = lexer->next;
        if (*p == '\n') {
            lexer->line++;
            lexer->next++;
        } else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f' || *p == '\0') {
            lexer->next++; /* a NUL ends the stored text */
        } else if (at_comment(lexer)) {
            if (!skip_comment(lexer)) return false;
        } else {
            break;
        }
    }
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Reads digits of a base; returns their number, or 0 if the value exceeds 64 bits. */
static size_t read_digits(struct lexer *lexer, unsigned base, uint64_t *value)
{
    const char *start = lexer->next;
    bool fits = true;
    *value = 0;
    while (lexer->next < lexer->end && digit_value(*lexer->next) < (int)base) {
        uint64_t digit = (uint64_t)digit_value(*lexer->next++);
        fits = fits && *value <= (UINT64_MAX - digit) / base;
        *value = *value * base + digit;
    }
    return fits ? (size_t)(lexer->next - start) : 0;
}

/* Reads a double in decimal, like 1.5, 1e3 or 2.5e-1. False: the number is not a double. */
static bool read_decimal(struct lexer *lexer, struct token *token)
{
    char text[64];
    size_t length = 0;
    const char *p = lexer->next;
    bool is_real = false;
    while (p < lexer->end && length < sizeof text - 1 &&
           (is_digit(*p) || *p == '.' || *p == 'e' || *p == 'E' ||
            ((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E')))) {
        is_real = is_real || !is_digit(*p);
        text[length++] = *p++;
    }
    text[length] = '\0';
    char *end;
    double value = strtod_l(text, &end, newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* static */
    if (!is_real || *end) return false;
    lexer->next = p;
    token->kind = TOKEN_FLOAT64;
    memcpy(&token->bits, &value, sizeof value);
    return true;
}

/* Does a letter follow a number directly? That is an error; a % may be an operator. */
static bool runs_on(const struct lexer *lexer)
{
    return lexer->next < lexer->end && is_word(*lexer->next) && *lexer->next != '%';
}

/* 12, 0x1F, 0b101, 017, 12U, 0f3F800000 (a float by its bits), 0d3FF0000000000000 (a double),
 * 1.5 */
static struct token read_number(struct lexer *lexer, struct token token)
{
    const char *p = lexer->next;
    char mark = p + 1 < lexer->end && p[0] == '0' ? p[1] : ' ';
    bool hexadecimal =
        mark == 'x' || mark == 'X' || mark == 'f' || mark == 'F' || mark == 'd' || mark == 'D';
    bool binary = mark == 'b' || mark == 'B';
    size_t digits;

    if (!hexadecimal && !binary && read_decimal(lexer, &token)) {
        if (runs_on(lexer)) token.kind = TOKEN_BAD;
        token.length = (size_t)(lexer->next - token.start);
        return token;
    }
    token.kind = TOKEN_INTEGER;
    if (hexadecimal || binary) lexer->next += 2;
    digits = read_digits(lexer,
                         hexadecimal      ? 16
                         : binary         ? 2
                         : is_digit(mark) ? 8
                                          : 10,
                         &token.bits);
    if (mark == 'f' || mark == 'F') {
        token.kind = digits == 8 ? TOKEN_FLOAT32 : TOKEN_BAD;
    } else if (mark == 'd' || mark == 'D') {
        token.kind = digits == 16 ? TOKEN_FLOAT64 : TOKEN_BAD;
    } else if (!digits) {
        token.kind = TOKEN_BAD;
    }
    if (token.kind == TOKEN_INTEGER && lexer->next < lexer->end && *lexer->next == 'U')
        lexer->next++;
    if (runs_on(lexer)) token.kind = TOKEN_BAD;
    token.length = (size_t)(lexer->next - token.start);
    return token;
}

/* Moves behind the quote that ends a string, which no character behind a \ does. Returns the end of
 * the string's text. *is_closed: there is such a quote, on the same line. */
static const char *skip_string(struct lexer *lexer, bool *is_closed)
{
    const char *p = lexer->next;
    for (; p < lexer->end && *p != '"' && *p != '\n'; p++)
        if (*p == '\\' && p + 1 < lexer->end && p[1] != '\n') p++;
    *is_closed = p < lexer->end && *p == '"';
    lexer->next = *is_closed ? p + 1 : p;
    return p;
}

struct token lexer_next(struct lexer *lexer)
{
    bool closed = skip_blanks(lexer);
    struct token token = {.kind = TOKEN_END, .start = lexer->next, .line = lexer->line};
    if (!closed) {
        token.kind = TOKEN_BAD;
        token.length = 2;
        lexer->next = lexer->end;
        return token;
    }
    if (lexer->next >= lexer->end) return token;

    char c = *lexer->next;
    if (is_digit(c)) return read_number(lexer, token);
    if (c == '"') {
        bool is_closed;
        token.start = ++lexer->next;
        token.length = (size_t)(skip_string(lexer, &is_closed) - token.start);
        token.kind = is_closed ? TOKEN_STRING : TOKEN_BAD;
        return token;
    }
    if (is_word(c)) {
        token.kind = TOKEN_WORD;
        while (lexer->next < lexer->end) {
            const char *p = lexer->next;
            if (c == '.' && *p == '.' && p > token.start) /* read .reg.b32 as .reg .b32 */
                break;
            if (is_word(*p))
                lexer->next++;
            else if (p + 2 < lexer->end && p[0] == ':' && p[1] == ':' && is_word(p[2]))
                lexer->next += 2;
            else
                break;
        }
        token.length = (size_t)(lexer->next - token.start);
        return token;
    }
    token.kind = c > ' ' && c < 127 ? TOKEN_PUNCTUATION : TOKEN_BAD;
    token.length = 1;
    lexer->next++;
    return token;
}

bool lexer_skip_braces(struct lexer *lexer)
{
    unsigned depth = 1;
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '/' && at_comment(lexer)) {
            if (!skip_comment(lexer)) return false;
            continue;
        }
        lexer->next++;
        if (c == '\n') lexer->line++;
        bool is_closed;
        if (c == '"') skip_string(lexer, &is_closed);
        if (c == '{') depth++;
        if (c == '}' && !--depth) return true;
    }
    return false;
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_PUNCTUATION) &&
           strlen(text) == token->length && !memcmp(token->start, text, token->length);
}

/* ---- the parser's tools: the current token, errors, and memory ------------------------------- */

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
    return arena_take(p->arena, bytes);
}

const char *copy_text(struct parser *p, const char *text, size_t length)
{
    return arena_text(p->arena, text, length);
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

/* literal.c — numbers, characters and strings. */
#include "common/cc/source/source.h"
#include "parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 100 };

static struct expr *wrong(struct parser *p, const struct token *token, const char *why)
{
    complain(p, token->at, NULL, "`%s` is no number: %s", text_of(p, token), why);
    return unknown(p, token->at);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The first of int, long (and their unsigned forms) that holds the value. Decimal numbers without u
 * are never unsigned. */
static enum type_kind integer_kind(uint64_t value, bool decimal, bool is_unsigned, int longs)
{
    enum type_kind kind = longs == 0 ? TYPE_INT : longs == 1 ? TYPE_LONG : TYPE_LONG_LONG;
    for (; kind <= TYPE_UNSIGNED_LONG_LONG; kind++) {
        bool unsigned_kind = !type_is_signed(type_basic(kind));
        int bits = 8 * (int)type_size(type_basic(kind)) - !unsigned_kind;
        bool may = unsigned_kind ? is_unsigned || !decimal : !is_unsigned;
        if (may && (bits == 64 || value >> bits == 0)) return kind;
    }
    return TYPE_UNKNOWN;
}

static struct expr *read_integer(struct parser *p, const struct token *token, const char *digits)
{
    bool binary = digits[0] == '0' && strchr("bB", digits[1]) != NULL && digits[1] != 0;
    char *end;
    errno = 0;
    uint64_t value = binary ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
    bool too_large = errno == ERANGE, is_unsigned = false;
    int longs = 0;
    for (; *end != 0 && strchr("uUlL", *end) != NULL; end++) {
        if (*end == 'u' || *end == 'U')
            is_unsigned = true;
        else
            longs++;
    }
    if (*end != 0 || longs > 2) return wrong(p, token, "it has a letter too many");
    enum type_kind kind = integer_kind(value, digits[0] != '0', is_unsigned, longs);
    if (too_large || kind == TYPE_UNKNOWN) return wrong(p, token, "it is too large");
    return integer(p, type_basic(kind), (int64_t)value, token->at);
}

static struct expr *read_real(struct parser *p, const struct token *token, const char *digits)
{
    char *end;
    double value = strtod(digits, &end);
    bool is_float = *end == 'f' || *end == 'F';
    if (is_float) value = (double)strtof(digits, &end), end++;
    if (*end != 0) return wrong(p, token, "it has a letter too many");
    struct expr *e =
        new_expr(p, EXPR_REAL, type_basic(is_float ? TYPE_FLOAT : TYPE_DOUBLE), token->at);
    e->real = value;
    return e;
}

static struct expr *read_number(struct parser *p, const struct token *token)
{
    char digits[LONGEST_NUMBER + 1];
    int length = 0;
    for (int i = 0; i < token->length; i++) {
        if (length == LONGEST_NUMBER) return wrong(p, token, "it has too many digits");
        if (token->text[i] != '\'') digits[length++] = token->text[i];
    }
    digits[length] = 0;
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    bool is_real = strpbrk(digits, hexadecimal ? ".pP" : ".eE") != NULL;
    return is_real ? read_real(p, token, digits) : read_integer(p, token, digits);
}

/* ---- characters and strings ------------------------------------------------------------------ */

/* Appends what stands between the quotes; returns the new length. */
static int64_t read_quoted(struct parser *p, const struct token *token, char *to, int64_t length)
{
    const char *text = token->text + 1, *end = token->text + token->length - 1;
    bool known = true;
    while (text < end) to[length++] = read_character(&text, &known);
    if (!known) complain(p, token->at, NULL, "there is no such character after \\");
    return length;
}

static struct expr *read_single(struct parser *p, const struct token *token)
{
    char *text = cc_take(p->arena, (size_t)token->length + 1);
    if (read_quoted(p, token, text, 0) != 1) {
        complain(p, token->at, "a string has \" around it",
                 "one character stands between the quotes ' and '");
        return unknown(p, token->at);
    }
    return integer(p, type_basic(TYPE_CHAR), text[0], token->at);
}

struct expr *read_string(struct parser *p)
{
    struct token *first = p->token;
    size_t room = 1;
    for (struct token *t = first; t->kind == TOKEN_STRING; t = t->next) room += (size_t)t->length;
    char *text = cc_take(p->arena, room);
    const struct type *character = type_with_const(p->arena, type_basic(TYPE_CHAR));
    struct expr *e = new_expr(p, EXPR_STRING, type_pointer(p->arena, character), first->at);
    e->string = text;
    for (; p->token->kind == TOKEN_STRING; go_past(p))
        e->length = read_quoted(p, p->token, text, e->length);
    return e;
}

struct expr *read_literal(struct parser *p)
{
    struct token *token = p->token;
    if (token->kind == TOKEN_STRING) {
        complain(p, token->at, NULL, "a string in device code stands only in printf");
        return read_string(p);
    }
    go_past(p);
    return token->kind == TOKEN_NUMBER ? read_number(p, token) : read_single(p, token);
}

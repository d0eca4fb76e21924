/* condition.c — computes the condition of an #if, by the precedence of its operators. */
#include "source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100 };

struct reader {
    struct diagnostics *diagnostics;
    struct token *token;
    int depth;
    int skips; /* operators around this value that do not need it */
    bool failed;
};

static int64_t fail_here(struct reader *reader, const char *what)
{
    if (!reader->failed)
        error_at(reader->diagnostics, reader->token->at, NULL, "%s in the condition of #if", what);
    reader->failed = true;
    return 0;
}

static int64_t read_choice(struct reader *);

/* 'a' */
static int64_t read_letter(struct reader *reader)
{
    const struct token *token = reader->token;
    const char *text = token->text + 1, *end = token->text + token->length - 1;
    bool known = true;
    int64_t value = text < end ? read_character(&text, &known) : 0;
    if (text != end || !known)
        return fail_here(reader, "what stands between ' and ' is not one character");
    reader->token = token->next;
    return value;
}

/* A number with its suffix, a character, true, or another name, which counts as 0. */
static int64_t read_value(struct reader *reader)
{
    struct token *token = reader->token;
    if (token->kind == TOKEN_CHARACTER) return read_letter(reader);
    if (token->kind != TOKEN_NUMBER && token->kind != TOKEN_NAME)
        return fail_here(reader, "a number is missing");
    reader->token = token->next;
    if (token->kind == TOKEN_NAME) return is_token(token, "true");

    char digits[32] = "", *end;
    if (token->length < (int)sizeof(digits)) memcpy(digits, token->text, (size_t)token->length);
    uint64_t value = strtoull(digits, &end, 0);
    if (end == digits || end[strspn(end, "uUlL")] != 0)
        return fail_here(reader, "what stands here is no integer");
    if (value > INT64_MAX || strpbrk(end, "uU") != NULL)
        return fail_here(reader,
                         "an unsigned number: nvcc accepts this, the page's compiler does not,");
    return (int64_t)value;
}

static int64_t read_unary(struct reader *reader)
{
    struct token *token = reader->token;
    if (token->kind != TOKEN_MARK || strchr("+-!~(", *token->text) == NULL || token->length != 1)
        return read_value(reader);
    if (++reader->depth > DEEPEST) return fail_here(reader, "there are too many parentheses");
    reader->token = token->next;
    int64_t value = *token->text == '(' ? read_choice(reader) : read_unary(reader);
    reader->depth--;
    switch (*token->text) {
    case '-': return (int64_t)(0 - (uint64_t)value);
    case '!': return !value;
    case '~': return ~value;
    case '+': return value;
    }
    if (!is_token(reader->token, ")")) return fail_here(reader, "a ) is missing");
    reader->token = reader->token->next;
    return value;
}

/* Operators of two operands, and how strongly they bind. */
static const struct {
    const char *text;
    int strength;
} OPERATORS[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                 {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                 {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

static int strength_of(const struct token *token)
{
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(OPERATORS[0]); i++)
        if (is_token(token, OPERATORS[i].text)) return OPERATORS[i].strength;
    return 0;
}

static int64_t divide(struct reader *reader, char mark, int64_t left, int64_t right)
{
    if (right == 0) return reader->skips > 0 ? 0 : fail_here(reader, "0 is divided by");
    if (right == -1) return mark == '/' ? (int64_t)(0 - (uint64_t)left) : 0;
    return mark == '/' ? left / right : left % right;
}

static int64_t compute(struct reader *reader, const struct token *mark, int64_t left, int64_t right)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    char second = mark->length > 1 ? mark->text[1] : 0;
    switch (mark->text[0]) {
    case '|': return second ? left || right : left | right;
    case '&': return second ? left && right : left & right;
    case '^': return left ^ right;
    case '=': return left == right;
    case '!': return left != right;
    case '<':
        return second == '=' ? left <= right : second ? (int64_t)(a << (b & 63)) : left < right;
    case '>': return second == '=' ? left >= right : second ? left >> (b & 63) : left > right;
    case '+': return (int64_t)(a + b);
    case '-': return (int64_t)(a - b);
    case '*': return (int64_t)(a * b);
    default: return divide(reader, mark->text[0], left, right);
    }
}

/* Operations that bind at least as strongly as `least`. */
static int64_t read_operations(struct reader *reader, int least)
{
    int64_t left = read_unary(reader);
    while (!reader->failed && strength_of(reader->token) >= least) {
        const struct token *mark = reader->token;
        int skips = is_token(mark, "&&") ? !left : is_token(mark, "||") ? left != 0 : 0;
        reader->token = mark->next;
        reader->skips += skips;
        int64_t right = read_operations(reader, strength_of(mark) + 1);
        reader->skips -= skips;
        left = compute(reader, mark, left, right);
    }
    return left;
}

static int64_t read_choice(struct reader *reader)
{
    int64_t value = read_operations(reader, 1);
    if (!is_token(reader->token, "?")) return value;
    if (++reader->depth > DEEPEST) return fail_here(reader, "there are too many ?");
    reader->token = reader->token->next;
    reader->skips += !value;
    int64_t yes = read_choice(reader);
    reader->skips += value ? 1 : -1;
    if (!is_token(reader->token, ":")) return fail_here(reader, "a : is missing");
    reader->token = reader->token->next;
    int64_t no = read_choice(reader);
    reader->skips -= value != 0;
    reader->depth--;
    return value ? yes : no;
}

/* Puts 1 or 0 in the place of `defined NAME` and `defined(NAME)`. */
static struct token *replace_defined(struct macros *macros, struct token *token)
{
    struct token *first = NULL, **last = &first;
    for (; token->kind != TOKEN_END; token = token->next) {
        struct token *made = token_before(macros->arena, token, NULL);
        if (is_token(token, "defined")) {
            bool parentheses = is_token(token->next, "(");
            struct token *name = parentheses ? token->next->next : token->next;
            if (name->kind == TOKEN_NAME && (!parentheses || is_token(name->next, ")"))) {
                made->kind = TOKEN_NUMBER;
                made->text = macro_is_defined(macros, name) ? "1" : "0";
                made->length = 1;
                token = parentheses ? name->next : name;
            }
        }
        *last = made;
        last = &made->next;
    }
    *last = token;
    return first;
}

bool condition_holds(struct macros *macros, struct token *line)
{
    struct reader reader = {.diagnostics = macros->diagnostics};
    reader.token = macro_expand_all(macros, replace_defined(macros, line));
    int64_t value = read_choice(&reader);
    if (!reader.failed && reader.token->kind != TOKEN_END)
        fail_here(&reader, "an operator is missing");
    return !reader.failed && value != 0;
}

/* lexer.c — memory, messages, and a text as tokens. */
#include "source.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

enum { FIRST_ROOM = 8 };

char *cc_format_list(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *cc_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cc_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

void *cc_grow(struct arena *arena, void *array, size_t count, size_t element)
{
    bool full = count == 0 || (count >= FIRST_ROOM && (count & (count - 1)) == 0);
    if (!full) return array;
    void *larger = arena_take(arena, (count == 0 ? FIRST_ROOM : 2 * count) * element);
    if (count > 0) memcpy(larger, array, count * element);
    return larger;
}

/* ---- collects what is wrong, and puts it into the order of the text -------------------------- */

static bool same_line(struct position a, struct position b)
{
    return a.file == b.file && a.line == b.line;
}

/* A second error of a line, or a warning beside one, follows from the first, mostly; and instances
 * of a template repeat what another one has said. */
static bool is_said(const struct diagnostics *d, enum cc_severity severity, struct position at)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct found *found = &d->found[i];
        if (!same_line(found->at, at)) continue;
        if (found->severity == CC_ERROR) return true;
        if (severity == CC_WARNING && found->at.column == at.column) return true;
    }
    return false;
}

static void add(struct diagnostics *d, enum cc_severity severity, struct position at,
                const char *hint, const char *format, va_list arguments)
{
    if (is_said(d, severity, at) || enough_errors(d)) return;
    const char *text = cc_format_list(d->arena, format, arguments);
    if (at.macro != NULL)
        text = cc_format(d->arena, "%s (in what the macro %s makes)", text, at.macro);
    d->found = cc_grow(d->arena, d->found, d->count, sizeof(*d->found));
    d->found[d->count++] = (struct found){severity, at, text, hint};
    d->errors += severity == CC_ERROR;
}

void error_at(struct diagnostics *d, struct position at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(d, CC_ERROR, at, hint, format, arguments);
    va_end(arguments);
}

void warn_at(struct diagnostics *d, struct position at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(d, CC_WARNING, at, hint, format, arguments);
    va_end(arguments);
}

bool enough_errors(const struct diagnostics *d) { return d->errors >= MANY_ERRORS; }

static int compare(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->at.file != b->at.file) return a->at.file < b->at.file ? -1 : 1;
    if (a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
    return (a->at.column > b->at.column) - (a->at.column < b->at.column);
}

const struct cc_diagnostic *diagnostics_sorted(const struct diagnostics *d)
{
    struct cc_diagnostic *sorted = arena_take(d->arena, d->count * sizeof(*sorted));
    if (d->count > 0) qsort(d->found, d->count, sizeof(*d->found), compare);
    for (size_t i = 0; i < d->count; i++) {
        const struct found *f = &d->found[i];
        sorted[i] = (struct cc_diagnostic){f->severity,  d->sources->files[f->at.file].name,
                                           f->at.line,   f->at.column,
                                           f->at.length, f->text,
                                           f->hint};
    }
    return sorted;
}

/* ---- cuts a text into tokens ----------------------------------------------------------------- */

struct lexer {
    struct arena *arena;
    struct diagnostics *diagnostics; /* NULL: a piece of text */
    const char *at, *line_begin;
    struct position position; /* its file and line */
    bool begins_line, after_space;
};

bool is_token(const struct token *token, const char *text)
{
    size_t length = strlen(text);
    if (token == NULL || token->kind == TOKEN_END) return false;
    return (size_t)token->length == length && memcmp(token->text, text, length) == 0 &&
           token->kind != TOKEN_STRING && token->kind != TOKEN_PRAGMA;
}

static struct position position_of(const struct lexer *lexer, const char *begin, int length)
{
    struct position position = lexer->position;
    if (lexer->diagnostics == NULL) return position;
    position.column = (int)(begin - lexer->line_begin) + 1;
    position.length = length;
    return position;
}

/* ---- what stands between tokens -------------------------------------------------------------- */

static void next_line(struct lexer *lexer)
{
    lexer->at++;
    lexer->line_begin = lexer->at;
    lexer->position.line++;
}

/* The length of a backslash at the end of a line, which joins it with the next one; 0: none. */
static int joint(const char *at)
{
    if (at[0] != '\\') return 0;
    if (at[1] == '\n') return 1;
    return at[1] == '\r' && at[2] == '\n' ? 2 : 0;
}

static void skip_line_comment(struct lexer *lexer)
{
    while (*lexer->at != 0 && *lexer->at != '\n') {
        lexer->at += joint(lexer->at);
        if (*lexer->at == '\n')
            next_line(lexer);
        else
            lexer->at++;
    }
}

static void skip_comment(struct lexer *lexer)
{
    struct position begin = position_of(lexer, lexer->at, 2);
    for (lexer->at += 2; strncmp(lexer->at, "*/", 2) != 0;) {
        if (*lexer->at == 0) {
            if (lexer->diagnostics != NULL)
                error_at(lexer->diagnostics, begin, "write */ where it ends",
                         "this comment has no end");
            return;
        }
        if (*lexer->at == '\n')
            next_line(lexer);
        else
            lexer->at++;
    }
    lexer->at += 2;
}

static void skip_space(struct lexer *lexer)
{
    for (;; lexer->after_space = true) {
        if (*lexer->at == '\n') {
            next_line(lexer);
            lexer->begins_line = true;
        } else if (joint(lexer->at) > 0) {
            lexer->at += joint(lexer->at);
            next_line(lexer);
        } else if (*lexer->at != 0 && strchr(" \t\r\f\v", *lexer->at) != NULL) {
            lexer->at++;
        } else if (strncmp(lexer->at, "//", 2) == 0) {
            skip_line_comment(lexer);
        } else if (strncmp(lexer->at, "/*", 2) == 0) {
            skip_comment(lexer);
        } else {
            return;
        }
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static int name_length(const char *at)
{
    int length = 0;
    while (in_name(at[length])) length++;
    return length;
}

/* A number of C++, right or wrong: also 1e-5f, 0x1p+3 and 1'000. */
static int number_length(const char *at)
{
    int length = 1;
    for (;; length++) {
        bool exponent = strchr("eEpP", at[length - 1]) != NULL;
        if (exponent && (at[length] == '+' || at[length] == '-')) continue;
        if (at[length] == '\'' && in_name(at[length + 1])) continue;
        if (!in_name(at[length]) && at[length] != '.') return length;
    }
}

/* A string or a character with its quotes; 0: it has no end in its line. */
static int quoted_length(const char *at)
{
    for (int length = 1; at[length] != 0 && at[length] != '\n'; length++) {
        if (at[length] == at[0]) return length + 1;
        if (at[length] == '\\' && at[length + 1] != 0 && at[length + 1] != '\n') length++;
    }
    return 0;
}

/* Longer ones first. */
static const char *const MARKS[] = {"<<<", ">>>", "<<=", ">>=", "...", "->*", "##", "->", "++",
                                    "--",  "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||",
                                    "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "::"};

static int mark_length(const char *at)
{
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++)
        if (strncmp(at, MARKS[i], strlen(MARKS[i])) == 0) return (int)strlen(MARKS[i]);
    return strchr("+-*/%&|^~!=<>?:;,.()[]{}#", *at) != NULL ? 1 : 0;
}

/* The bytes of a character in UTF-8, or 1. */
static int character_length(const char *at)
{
    int length = 1;
    while ((at[length] & 0xC0) == 0x80) length++;
    return length;
}

static enum token_kind measure(const char *at, int *length)
{
    if (*at == 0) return *length = 0, TOKEN_END;
    if (isdigit((unsigned char)at[0]) || (at[0] == '.' && isdigit((unsigned char)at[1])))
        return *length = number_length(at), TOKEN_NUMBER;
    if ((*length = name_length(at)) > 0) return TOKEN_NAME;
    if (*at == '"' || *at == '\'') {
        *length = quoted_length(at);
        if (*length > 0) return *at == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
        return *length = 1, TOKEN_WRONG;
    }
    if ((*length = mark_length(at)) > 0) return TOKEN_MARK;
    return *length = character_length(at), TOKEN_WRONG;
}

/* After a quote without an end the line's rest says nothing. */
static void go_on(struct lexer *lexer, const struct token *token)
{
    lexer->at += token->length;
    if (token->kind == TOKEN_WRONG && strchr("\"'", *token->text) != NULL)
        while (*lexer->at != 0 && *lexer->at != '\n') lexer->at++;
}

static struct token *next_token(struct lexer *lexer)
{
    struct token *token = ARENA_NEW(lexer->arena, struct token);
    lexer->begins_line |= lexer->line_begin == lexer->at;
    skip_space(lexer);
    token->text = lexer->at;
    token->kind = measure(lexer->at, &token->length);
    token->at = position_of(lexer, lexer->at, token->length > 0 ? token->length : 1);
    token->begins_line = lexer->begins_line;
    token->after_space = lexer->after_space;
    lexer->begins_line = lexer->after_space = false;
    go_on(lexer, token);
    return token;
}

static struct token *all_tokens(struct lexer *lexer)
{
    struct token *first = next_token(lexer), *last = first;
    while (last->kind != TOKEN_END) last = last->next = next_token(lexer);
    return first;
}

/* Some editors begin a text with a mark of UTF-8. */
static const char *after_mark(const char *text)
{
    return strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
}

struct token *lex(struct diagnostics *d, int file)
{
    const char *text = after_mark(d->sources->files[file].text);
    struct lexer lexer = {d->arena, d, text, text, {file, 1, 1, 1, NULL}, true, false};
    return all_tokens(&lexer);
}

/* ---- what characters mean -------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

char read_character(const char **text, bool *known)
{
    static const char LETTERS[] = "abfnrtv\\'\"?", MEANT[] = "\a\b\f\n\r\t\v\\'\"?";
    if (**text != '\\') return *(*text)++;
    char letter = *++*text;
    const char *found = strchr(LETTERS, letter);
    int base = letter == 'x' ? 16 : 8, value = 0;
    if (found != NULL && letter != 0) return ++*text, MEANT[found - LETTERS];
    if (letter == 'x') ++*text;
    const char *begin = *text;
    while (digit_of(**text) < base && *text - begin < (base == 8 ? 3 : 2))
        value = base * value + digit_of(*(*text)++);
    if (*text == begin) *known = false, ++*text;
    return (char)value;
}

struct token *lex_piece(struct arena *arena, const char *text, struct position at)
{
    struct lexer lexer = {arena, NULL, text, text, at, false, false};
    struct token *first = all_tokens(&lexer);
    first->begins_line = false;
    return first;
}

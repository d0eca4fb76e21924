/*
 * preprocess.c — follows the directives: conditions, built-in headers.
 */
#include "source.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- computes the condition of an #if, by the precedence of its operators -------------------- */

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

/* Is the condition of the line (after `#if`, up to TOKEN_END) other than 0? False after errors. */
static bool condition_holds(struct macros *macros, struct token *line)
{
    struct reader reader = {.diagnostics = macros->diagnostics};
    reader.token = macro_expand_all(macros, replace_defined(macros, line));
    int64_t value = read_choice(&reader);
    if (!reader.failed && reader.token->kind != TOKEN_END)
        fail_here(&reader, "an operator is missing");
    return !reader.failed && value != 0;
}

/* ---- the headers of CUDA and C that are built in: what device code can use of them ----------- */

const char BEGINNING[] = "#define __CUDACC__ 1\n"
                         "#define __NVCC__ 1\n"
                         "#define __CUDA_ARCH__ 900\n"
                         "#define __cplusplus 201703L\n"
                         "#define __CUDACC_VER_MAJOR__ 13\n"
                         "#define NULL nullptr\n"
                         "#define INFINITY 1e999f\n"
                         "#define CHAR_BIT 8\n"
                         "#define SHRT_MAX 32767\n"
                         "#define INT_MAX 2147483647\n"
                         "#define INT_MIN (-INT_MAX - 1)\n"
                         "#define UINT_MAX 4294967295u\n"
                         "#define LONG_MAX 9223372036854775807L\n"
                         "#define LONG_MIN (-LONG_MAX - 1)\n"
                         "#define ULONG_MAX 18446744073709551615uL\n"
                         "typedef unsigned long size_t;\n"
                         "typedef long ptrdiff_t;\n"
                         "typedef signed char int8_t;\n"
                         "typedef short int16_t;\n"
                         "typedef int int32_t;\n"
                         "typedef long int64_t;\n"
                         "typedef unsigned short ushort;\n"
                         "typedef unsigned int uint;\n"
                         "typedef unsigned long ulong;\n";

static const char STDINT[] = "typedef unsigned char uint8_t;\n"
                             "typedef unsigned short uint16_t;\n"
                             "typedef unsigned int uint32_t;\n"
                             "typedef unsigned long uint64_t;\n"
                             "typedef long intptr_t;\n"
                             "typedef unsigned long uintptr_t;\n"
                             "#define INT8_MAX 127\n"
                             "#define INT16_MAX 32767\n"
                             "#define INT32_MAX 2147483647\n"
                             "#define INT32_MIN (-INT32_MAX - 1)\n"
                             "#define INT64_MAX 9223372036854775807L\n"
                             "#define INT64_MIN (-INT64_MAX - 1)\n"
                             "#define UINT8_MAX 255\n"
                             "#define UINT16_MAX 65535\n"
                             "#define UINT32_MAX 4294967295u\n"
                             "#define UINT64_MAX 18446744073709551615uL\n"
                             "#define SIZE_MAX UINT64_MAX\n";

static const char FLOAT[] = "#define FLT_MAX 3.402823466e+38f\n"
                            "#define FLT_MIN 1.175494351e-38f\n"
                            "#define FLT_EPSILON 1.192092896e-07f\n"
                            "#define DBL_MAX 1.7976931348623157e+308\n"
                            "#define DBL_MIN 2.2250738585072014e-308\n"
                            "#define DBL_EPSILON 2.2204460492503131e-16\n";

/* What host code includes, which is skipped; also names that every text has. */
static const char *const NOTHING_OF[] = {
    "algorithm", "assert.h",  "cassert",    "chrono",  "climits",  "cmath",
    "cstddef",   "cstdio",    "cstdlib",    "cstring", "cuda.h",   "cuda_runtime.h",
    "ctime",     "errno.h",   "fstream",    "iomanip", "iostream", "cuda_runtime_api.h",
    "limits.h",  "math.h",    "memory",     "numeric", "random",   "device_launch_parameters.h",
    "stddef.h",  "stdbool.h", "stdio.h",    "sstream", "stdlib.h", "string.h",
    "string",    "time.h",    "sys/time.h", "utility", "unistd.h", "vector"};

/* The text of <name>; "" for a header that only host code needs; NULL for any other. */
static const char *built_in_header(const char *name)
{
    if (strcmp(name, "stdint.h") == 0 || strcmp(name, "cstdint") == 0) return STDINT;
    if (strcmp(name, "float.h") == 0 || strcmp(name, "cfloat") == 0) return FLOAT;
    for (size_t i = 0; i < sizeof(NOTHING_OF) / sizeof(NOTHING_OF[0]); i++)
        if (strcmp(name, NOTHING_OF[i]) == 0) return "";
    return NULL;
}

/* ---- follows the directives, and hands on all other lines with their macros expanded --------- */

enum { DEEPEST_INCLUDE = 40, MOST_FILES = 200 };

/* An #if without its #endif so far. */
struct condition {
    const struct token *begin;
    bool taken; /* a branch of it was */
    bool has_else;
    struct condition *outer;
};

struct preprocessor {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct cc_options *options;
    struct macros macros;
    struct condition *condition;
    bool *once; /* by file: #pragma once was seen */
    int depth;  /* of includes */
    struct token *first, **last;
};

static void put(struct preprocessor *pp, struct token *token)
{
    struct token *copy = token_before(pp->arena, token, NULL);
    *pp->last = copy;
    pp->last = &copy->next;
    const char *said = NULL;
    if (token->kind == TOKEN_WRONG) said = "this character means nothing here";
    if (is_token(token, "\"")) said = "this string has no \" at its end, in its line";
    if (is_token(token, "'")) said = "this character has no ' at its end";
    if (said != NULL) error_at(pp->diagnostics, token->at, NULL, "%s", said);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(struct diagnostics *d, const char *name, const char *text)
{
    struct source_files *sources = d->sources;
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i].name, name) == 0 && sources->files[i].text == text) return i;
    sources->files =
        cc_grow(d->arena, sources->files, (size_t)sources->count, sizeof(*sources->files));
    sources->files[sources->count] = (struct source_file){name, text};
    return sources->count++;
}

static void read_file(struct preprocessor *, int file);

/* The end of the line, which becomes a TOKEN_END; returns the first token of the next line. */
static struct token *cut_line(struct arena *arena, struct token *token)
{
    while (token->kind != TOKEN_END && (token->next == NULL || !token->next->begins_line) &&
           token->next->kind != TOKEN_END)
        token = token->next;
    if (token->kind == TOKEN_END) return token;
    struct token *next = token->next;
    token->next = token_before(arena, next, NULL);
    token->next->kind = TOKEN_END;
    token->next->at = token->at;
    return next;
}

/* ---- #include -------------------------------------------------------------------------------- */

/* The name of a header between its marks; NULL after an error. */
static const char *header_name(struct preprocessor *pp, const struct token *token, char *mark)
{
    *mark = *token->text;
    const char *begin = token->text + 1, *end = NULL;
    if (token->kind == TOKEN_STRING)
        end = begin + token->length - 2;
    else if (is_token(token, "<"))
        end = begin + strcspn(begin, ">\n");
    if (end != NULL && *end != '\n' && *end != 0 && end > begin)
        return arena_text(pp->arena, begin, (size_t)(end - begin));
    error_at(pp->diagnostics, token->at, NULL,
             "#include needs the name of a header, as \"scan.h\" or <stdio.h>");
    return NULL;
}

/* The header beside the file that includes it, with what is `./` and `folder/../` left out. */
static const char *path_beside(struct preprocessor *pp, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int folder = slash == NULL ? 0 : (int)(slash - from) + 1;
    while (strncmp(name, "./", 2) == 0 || (strncmp(name, "../", 3) == 0 && folder > 0)) {
        if (name[1] == '/') {
            name += 2;
            continue;
        }
        name += 3;
        for (folder--; folder > 0 && from[folder - 1] != '/';) folder--;
    }
    return cc_format(pp->arena, "%.*s%s", folder, from, name);
}

static const char *find_header(struct preprocessor *pp, const struct token *token, char mark,
                               const char **name)
{
    cc_header_fn *header = pp->options->header;
    const char *from = pp->diagnostics->sources->files[token->at.file].name, *text = NULL;
    if (header != NULL && mark == '"') {
        const char *path = path_beside(pp, from, *name);
        text = header(pp->options->context, path);
        if (text != NULL) *name = path;
    }
    if (text == NULL && header != NULL) text = header(pp->options->context, *name);
    return text != NULL ? text : built_in_header(*name);
}

static void include(struct preprocessor *pp, const struct token *token)
{
    char mark;
    const char *name = header_name(pp, token, &mark);
    if (name == NULL) return;
    const char *text = find_header(pp, token, mark, &name);
    if (text == NULL) {
        if (mark == '<')
            error_at(pp->diagnostics, token->at, NULL,
                     "the header <%s>: the page's compiler does not have it", name);
        else
            error_at(pp->diagnostics, token->at, NULL, "the header \"%s\" was not found", name);
        return;
    }
    if (pp->depth >= DEEPEST_INCLUDE || pp->diagnostics->sources->count >= MOST_FILES) {
        error_at(pp->diagnostics, token->at, "is it guarded by #ifndef?",
                 "headers include each other too deeply");
        return;
    }
    int file = open_file(pp->diagnostics, name, text);
    if (!pp->once[file]) read_file(pp, file);
}

/* ---- #if ------------------------------------------------------------------------------------- */

static bool is_directive(const struct token *token)
{
    return token->begins_line && is_token(token, "#");
}

/* Skips lines up to a directive that ends or continues the innermost #if; returns its #. */
static struct token *skip_branch(struct token *token)
{
    for (int depth = 0; token->kind != TOKEN_END; token = token->next) {
        if (!is_directive(token)) continue;
        const struct token *word = token->next;
        bool ends = is_token(word, "endif");
        if (depth == 0 && (ends || is_token(word, "else") || is_token(word, "elif"))) return token;
        depth += is_token(word, "if") || is_token(word, "ifdef") || is_token(word, "ifndef");
        depth -= ends;
    }
    return token;
}

static struct token *take_branch(struct preprocessor *pp, bool holds, struct token *next)
{
    pp->condition->taken |= holds;
    return holds ? next : skip_branch(next);
}

static struct token *begin_if(struct preprocessor *pp, struct token *word, struct token *next)
{
    struct condition *condition = ARENA_NEW(pp->arena, struct condition);
    *condition = (struct condition){.begin = word, .outer = pp->condition};
    pp->condition = condition;
    if (is_token(word, "if"))
        return take_branch(pp, condition_holds(&pp->macros, word->next), next);
    if (word->next->kind != TOKEN_NAME)
        error_at(pp->diagnostics, word->at, NULL, "the name of a macro is missing");
    return take_branch(pp, macro_is_defined(&pp->macros, word->next) == is_token(word, "ifdef"),
                       next);
}

static struct token *go_on_if(struct preprocessor *pp, struct token *word, struct token *next)
{
    struct condition *condition = pp->condition;
    if (condition == NULL || (condition->has_else && !is_token(word, "endif"))) {
        error_at(pp->diagnostics, word->at, NULL, "this #%.*s has no #if before it", word->length,
                 word->text);
        return next;
    }
    if (is_token(word, "endif")) {
        pp->condition = condition->outer;
        return next;
    }
    condition->has_else = is_token(word, "else");
    if (condition->taken) return skip_branch(next);
    return take_branch(pp, condition->has_else || condition_holds(&pp->macros, word->next), next);
}

/* ---- directives ------------------------------------------------------------------------------ */

static void pragma(struct preprocessor *pp, struct token *word)
{
    struct token *what = word->next;
    if (is_token(what, "once")) pp->once[what->at.file] = true;
    if (!is_token(what, "unroll") && !is_token(what, "nounroll")) return;
    struct token *number = macro_expand_all(&pp->macros, what->next);
    what->kind = TOKEN_PRAGMA;
    put(pp, what);
    for (; number->kind != TOKEN_END; number = number->next) put(pp, number);
    struct token end = *what;
    end.text = END_OF_PRAGMA;
    end.length = (int)strlen(END_OF_PRAGMA);
    put(pp, &end);
}

/* The rest of a line, as it is written. */
static const char *line_text(struct arena *arena, const struct token *token)
{
    if (token->kind == TOKEN_END) return "";
    return arena_text(arena, token->text, strcspn(token->text, "\r\n"));
}

static void other_directive(struct preprocessor *pp, struct token *word)
{
    struct diagnostics *d = pp->diagnostics;
    if (is_token(word, "define"))
        macro_define(&pp->macros, word->next);
    else if (is_token(word, "undef"))
        macro_undefine(&pp->macros, word->next);
    else if (is_token(word, "include"))
        include(pp, word->next);
    else if (is_token(word, "pragma"))
        pragma(pp, word);
    else if (is_token(word, "error"))
        error_at(d, word->at, NULL, "#error %s", line_text(pp->arena, word->next));
    else if (is_token(word, "warning"))
        warn_at(d, word->at, NULL, "#warning %s", line_text(pp->arena, word->next));
    else if (word->kind != TOKEN_END)
        error_at(d, word->at, NULL, "there is no directive #%.*s", word->length, word->text);
}

/* Follows the directive at `mark`, its #; returns where to go on. */
static struct token *directive(struct preprocessor *pp, struct token *mark)
{
    struct token *next = cut_line(pp->arena, mark), *word = mark->next;
    if (is_token(word, "if") || is_token(word, "ifdef") || is_token(word, "ifndef"))
        return begin_if(pp, word, next);
    if (is_token(word, "elif") || is_token(word, "else") || is_token(word, "endif"))
        return go_on_if(pp, word, next);
    other_directive(pp, word);
    return next;
}

static void read_file(struct preprocessor *pp, int file)
{
    struct condition *outer = pp->condition;
    struct token *token = lex(pp->diagnostics, file);
    pp->condition = NULL;
    pp->depth++;
    while (token->kind != TOKEN_END && !enough_errors(pp->diagnostics)) {
        if (is_directive(token)) {
            token = directive(pp, token);
        } else if (!macro_expand(&pp->macros, &token)) {
            put(pp, token);
            token = token->next;
        }
    }
    if (pp->condition != NULL)
        error_at(pp->diagnostics, pp->condition->begin->at, NULL, "this #%.*s has no #endif",
                 pp->condition->begin->length, pp->condition->begin->text);
    pp->condition = outer;
    pp->depth--;
    *pp->last = token_before(pp->arena, token, NULL);
    (*pp->last)->kind = TOKEN_END;
}

/* ---- the whole text -------------------------------------------------------------------------- */

/* The macros of -D, as #define lines. */
static const char *option_text(struct arena *arena, const struct cc_options *options)
{
    const char *text = "";
    for (size_t i = 0; i < options->define_count; i++) {
        const char *define = options->defines[i], *sign = strchr(define, '=');
        int name = sign == NULL ? (int)strlen(define) : (int)(sign - define);
        text = cc_format(arena, "%s#define %.*s %s\n", text, name, define,
                         sign == NULL ? "1" : sign + 1);
    }
    return text;
}

struct token *preprocess(struct diagnostics *d, const char *name, const char *text,
                         const struct cc_options *options)
{
    struct preprocessor *pp = ARENA_NEW(d->arena, struct preprocessor);
    *pp = (struct preprocessor){.arena = d->arena, .diagnostics = d, .options = options};
    pp->macros = (struct macros){.arena = d->arena, .diagnostics = d};
    pp->once = arena_take(d->arena, (MOST_FILES + 3) * sizeof(bool));
    pp->last = &pp->first;
    int file = open_file(d, name, text);
    read_file(pp, open_file(d, "<built in>", BEGINNING));
    read_file(pp, open_file(d, "<options>", option_text(d->arena, options)));
    read_file(pp, file);
    return pp->first;
}

struct token *preprocess_more(struct diagnostics *d, const char *name, const char *text)
{
    return lex(d, open_file(d, name, text));
}

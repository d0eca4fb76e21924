/*
 * parser.c — going through the tokens, the names that are visible, and words that the subset
 * lacks.
 */
#include "parser.h"
#include <stdlib.h>
#include <string.h>

/* Is it a function or an object of the host's libraries, such as malloc? */
static bool is_library_name(const struct token *);

/* ---- going through the tokens, and saying what is wrong -------------------------------------- */

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
    return arena_text(p->arena, token->text, (size_t)token->length);
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

/* ---- the names that are visible, and the nearest of them to one that is not ------------------ */

enum { LONGEST_NAME = 40 };

void begin_scope(struct parser *p)
{
    struct scope *scope = ARENA_NEW(p->arena, struct scope);
    scope->outer = p->scope;
    p->scope = scope;
}

void end_scope(struct parser *p) { p->scope = p->scope->outer; }

static struct name **bucket_of(const struct scope *scope, const char *text, int length)
{
    unsigned hash = 5381;
    for (int i = 0; i < length; i++) hash = hash * 33 + (unsigned char)text[i];
    return &scope->buckets[hash % SCOPE_BUCKETS];
}

static struct name *find_in(const struct scope *scope, const struct token *token, bool tag)
{
    struct name *name = scope->names;
    if (scope->buckets != NULL) name = *bucket_of(scope, token->text, token->length);
    for (; name != NULL; name = scope->buckets != NULL ? name->in_bucket : name->next)
        if ((name->kind == NAME_TAG) == tag && is_token(token, name->text)) return name;
    return NULL;
}

static void put_in_bucket(struct scope *scope, struct name *name)
{
    struct name **bucket = bucket_of(scope, name->text, (int)strlen(name->text));
    name->in_bucket = *bucket;
    *bucket = name;
}

/* The latest name comes first, in its bucket, too. */
static void put_in(struct parser *p, struct scope *scope, struct name *name)
{
    name->next = scope->names;
    scope->names = name;
    if (scope->buckets != NULL) put_in_bucket(scope, name);
    if (++scope->count != MANY_NAMES) return;
    struct name *names[MANY_NAMES];
    for (int i = MANY_NAMES; i > 0; name = name->next) names[--i] = name;
    scope->buckets = arena_take(p->arena, SCOPE_BUCKETS * sizeof(struct name *));
    for (int i = 0; i < MANY_NAMES; i++) put_in_bucket(scope, names[i]);
}

static struct name *find(const struct parser *p, const struct token *token, bool tag)
{
    struct name *found = NULL;
    if (token->kind != TOKEN_NAME) return NULL;
    for (struct scope *scope = p->scope; scope != NULL && found == NULL; scope = scope->outer)
        found = find_in(scope, token, tag);
    return found;
}

struct name *find_name(const struct parser *p, const struct token *token)
{
    return find(p, token, false);
}

struct name *find_tag(const struct parser *p, const struct token *token)
{
    return find(p, token, true);
}

void refuse_overload(struct parser *p, const struct token *token)
{
    refuse(p, token,
           cc_format(p->arena, "overloading, a second function `%s` with other parameters",
                     text_of(p, token)));
}

struct name *add_name(struct parser *p, enum name_kind kind, const struct token *token)
{
    struct name *before = find_in(p->scope, token, kind == NAME_TAG);
    if (before == NULL && p->scope->is_body)
        before = find_in(p->scope->outer, token, kind == NAME_TAG);
    bool is_function = kind == NAME_FUNCTION || kind == NAME_TEMPLATE;
    if (is_function && before != NULL && before->kind != kind &&
        (before->kind == NAME_FUNCTION || before->kind == NAME_TEMPLATE))
        refuse_overload(p, token);
    bool again = kind == NAME_HOST || kind == NAME_TYPE || kind == NAME_TAG;
    bool is_read = p->is_program && before != NULL && before->kind == NAME_HOST;
    if (before != NULL && !is_read && !(again && before->kind == kind))
        complain(p, token->at, "give one of them another name",
                 "`%s` is declared a second time; the first time is in line %d", before->text,
                 before->at.line);
    struct name *name = ARENA_NEW(p->arena, struct name);
    name->kind = kind;
    name->text = text_of(p, token);
    name->at = token->at;
    put_in(p, p->scope, name);
    return name;
}

/* ---- the nearest name ------------------------------------------------------------------------ */

static int least(int a, int b, int c)
{
    int smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* How many letters have to be changed, added or left out to make one name of the other. */
static int distance(const char *a, int a_length, const char *b)
{
    int row[LONGEST_NAME + 1], b_length = (int)strlen(b);
    if (b_length > LONGEST_NAME || abs(a_length - b_length) > 2) return LONGEST_NAME;
    for (int j = 0; j <= b_length; j++) row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

struct nearest {
    const struct token *token;
    const char *text;
    int distance;
};

static void consider(struct nearest *nearest, const char *text)
{
    int d = distance(nearest->token->text, nearest->token->length, text);
    if (d == 0 || d >= nearest->distance) return;
    nearest->distance = d;
    nearest->text = text;
}

const char *nearest_name(struct parser *p, const struct token *token)
{
    int far = token->length < 5 ? 2 : 3;
    struct nearest nearest = {token, NULL, token->length < 2 ? 0 : far};
    for (struct scope *scope = p->scope; scope != NULL; scope = scope->outer)
        for (struct name *name = scope->names; name != NULL; name = name->next)
            if (name->kind < NAME_TAG) consider(&nearest, name->text);
    for (int i = 0; BUILT_IN_NAMES[i] != NULL; i++) consider(&nearest, BUILT_IN_NAMES[i]);
    if (nearest.text == NULL) return NULL;
    return cc_format(p->arena, "did you mean `%s`?", nearest.text);
}

/* ---- what is not known ----------------------------------------------------------------------- */

static const char *header_of(const struct token *token)
{
    static const char *const STDINT[] = {"uint8_t",   "uint16_t",   "uint32_t",   "uint64_t",
                                         "uintptr_t", "INT32_MAX",  "UINT32_MAX", "INT64_MAX",
                                         "INT32_MIN", "UINT64_MAX", "SIZE_MAX"};
    for (size_t i = 0; i < sizeof(STDINT) / sizeof(STDINT[0]); i++)
        if (is_token(token, STDINT[i])) return "stdint.h";
    return is_token(token, "FLT_MAX") || is_token(token, "FLT_MIN") ? "float.h" : NULL;
}

/* In the scope of the function's parameters, so that nothing more is said in the function. */
void add_refused(struct parser *p, const struct token *token)
{
    struct scope *scope = p->scope, *inner = p->scope;
    if (token == NULL || token->kind != TOKEN_NAME || p->quiet > 0) return;
    while (scope != p->global && scope->outer != p->global) scope = scope->outer;
    if (find_in(scope, token, false) != NULL) return;
    p->scope = scope;
    add_name(p, NAME_REFUSED, token);
    p->scope = inner;
}

void unknown_name(struct parser *p, const struct token *token)
{
    const char *text = text_of(p, token), *what = refused_word(p, token);
    const char *header = header_of(token);
    if (what != NULL) {
        refuse(p, token, what);
    } else if (header != NULL) {
        complain(p, token->at, cc_format(p->arena, "write #include <%s>", header),
                 "`%s` is not declared here", text);
    } else if (is_host_code(p) && (is_library_name(token) || !strncmp(text, "cuda", 4))) {
        refuse(p, token, cc_format(p->arena, "the function %s", text));
    } else if (is_library_name(token)) {
        complain(p, token->at, "a kernel calls __device__ functions only",
                 "`%s` belongs to the host's library, and this is device code", text);
    } else {
        const char *hint = nearest_name(p, token);
        complain(p, token->at, hint, "`%s` is not declared here", text);
    }
    add_refused(p, token);
}

/* ---- words that CUDA C++ has and the subset has not, and names of the host's libraries ------- */

/* A * at the end stands for any letters. */
struct word {
    const char *pattern, *what;
};

static const struct word REFUSED[] = {
    {"goto", "goto"}, {"__asm*", "inline assembly"}, {"struct", "a struct"}, {"class", "a class"},
    {"union", "a union"}, {"auto", "auto"}, {"decltype", "decltype"},
    {"operator", "an operator of one's own"}, {"namespace", "a namespace"}, {"using", "using"},
    {"this", "a class"}, {"new", "new"}, {"delete", "delete"}, {"try", "an exception"},
    {"throw", "an exception"}, {"thread_local", "thread_local"}, {"register", "register"},
    {"*_cast", "a cast of C++"}, {"__managed__", "managed memory"},
    {"__grid_constant__", "__grid_constant__"}, {"__attribute__", "__attribute__"},
    {"atomic*", "an atomic operation"}, {"__reduce_*", "a reduction of a warp"},
    {"__match_*", "a vote"}, {"__all", "a vote"}, {"cooperative_groups", "cooperative groups"},
    {"cg", "cooperative groups"}, {"std", "the C++ library"}, {"cub", "CUB"}, {"thrust", "Thrust"},
    {"clock", "clock()"}, {"clock64", "clock64()"}, {"assert", "assert()"},
    {"__half*", "a number of 16 bits"}, {"half", "a number of 16 bits"},
    {"dim3", "dim3 in device code"}, {"make_*", "a vector type"},
    {"__builtin_*", "a built-in function of the compiler"}};

static const char *const MATH[] = {
    "sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10", "pow", "floor", "ceil", "round",
    "trunc", "fmod", "rint", "rsqrt", "tanh", "hypot", "cbrt", "isnan", "sinf", "cosf", "tanf",
    "expf", "exp2f", "logf", "log2f", "log10f", "powf", "floorf", "ceilf", "roundf", "truncf",
    "fmodf", "rintf", "rsqrtf", "tanhf", "copysignf", "isinf", "atan2f", "__mul24", "__expf",
    "__logf", "__sinf", "__cosf", "__powf", "__fdividef", "__saturatef"};

static const char *const LIBRARY[] = {
    "malloc", "calloc", "realloc", "free", "memcpy", "memset", "memmove", "strlen", "strcmp",
    "strcpy", "puts", "putchar", "fprintf", "scanf", "exit", "abort", "rand", "srand", "time",
    "fopen", "fclose", "fputs", "qsort", "cout", "cerr", "endl", "vector", "string", "getenv",
    "atoi", "stderr", "stdout", "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemset",
    "cudaDeviceSynchronize", "cudaGetLastError", "cudaGetErrorString"};

const char *const BUILT_IN_NAMES[] = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads",
    "printf",    "min",      "max",      "abs",     "sqrtf",    "fabsf",
    "fminf",     "fmaxf",    "fmaf",     "float",   "double",   "unsigned",
    "const",     "return",   "while",    "break",   "continue", "sizeof",
    "true",      "false",    NULL};

static bool matches(const struct token *token, const char *pattern)
{
    size_t length = strlen(pattern), size = (size_t)token->length;
    if (pattern[0] == '*')
        return size >= length - 1 &&
               memcmp(token->text + size - (length - 1), pattern + 1, length - 1) == 0;
    if (pattern[length - 1] == '*')
        return size >= length - 1 && memcmp(token->text, pattern, length - 1) == 0;
    return is_token(token, pattern);
}

static bool is_among(const struct token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_token(token, words[i])) return true;
    return false;
}

const char *refused_word(struct parser *p, const struct token *token)
{
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++)
        if (matches(token, REFUSED[i].pattern)) return REFUSED[i].what;
    if (is_among(token, MATH, sizeof(MATH) / sizeof(MATH[0])))
        return cc_format(p->arena, "the function %s", text_of(p, token));
    return NULL;
}

static bool is_library_name(const struct token *token)
{
    return is_among(token, LIBRARY, sizeof(LIBRARY) / sizeof(LIBRARY[0]));
}

/* scope.c — the names that are visible, and the nearest of them to one that is not. */
#include "parser.h"

#include <stdlib.h>
#include <string.h>

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
    scope->buckets = cc_take(p->arena, SCOPE_BUCKETS * sizeof(struct name *));
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
    if (before != NULL && !(again && before->kind == kind))
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
    } else if (is_library_name(token)) {
        complain(p, token->at, "a kernel calls __device__ functions only",
                 "`%s` belongs to the host's library, and this is device code", text);
    } else {
        const char *hint = nearest_name(p, token);
        complain(p, token->at, hint, "`%s` is not declared here", text);
    }
    add_refused(p, token);
}

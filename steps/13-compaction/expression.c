/*
 * expression.c — a small recursive-descent parser. Each rule returns a set of keys.
 */
#include "common/files/fault.h"
#include "step13.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define ROOM (4 * COMPACT_INTERVALS_MOST) /* ends of intervals of a set on the way */
#define DEEP 64                           /* brackets in brackets, and nots */

/* Going up from key 0, the keys at which one is in the set or no more, in turn. */
struct set {
    bool has_0;
    unsigned count;
    uint64_t turns[ROOM];
};

struct parser {
    const char *text, *at; /* `at`: what is read next */
    enum element element;
    uint64_t all;         /* the greatest key */
    uint64_t least, most; /* keys of the least and the greatest number; NaNs are beyond */
    int depth;
    int place; /* where something else was expected; -1 */
    struct fault *fault;
    int code; /* not 0: fault says why */
};

/* ---- sets ------------------------------------------------------------------------------------ */

static struct set nothing(void) { return (struct set){0}; }

static struct set not_in(struct set a)
{
    a.has_0 = !a.has_0;
    return a;
}

/* The keys from the first to the last one. */
static struct set from_to(const struct parser *p, uint64_t first, uint64_t last)
{
    struct set s = {.has_0 = first == 0};
    if (first > 0) s.turns[s.count++] = first;
    if (last < p->all) s.turns[s.count++] = last + 1;
    return s;
}

static void too_many(struct parser *p)
{
    if (!p->code)
        p->code = fail(
            p->fault, EXIT_USAGE,
            "--keep: the expression has more than %d separate intervals; keep fewer at a time.",
            COMPACT_INTERVALS_MOST);
}

/* The keys that are in one of two sets. */
static struct set either(struct parser *p, struct set a, struct set b)
{
    struct set s = {.has_0 = a.has_0 || b.has_0};
    bool in_a = a.has_0, in_b = b.has_0, in = s.has_0;
    for (unsigned i = 0, k = 0; i < a.count || k < b.count;) {
        bool of_a = k == b.count || (i < a.count && a.turns[i] <= b.turns[k]);
        uint64_t key = of_a ? a.turns[i] : b.turns[k];
        if (i < a.count && a.turns[i] == key) in_a = !in_a, i++;
        if (k < b.count && b.turns[k] == key) in_b = !in_b, k++;
        if ((in_a || in_b) == in) continue;
        in = !in;
        if (s.count == ROOM) {
            too_many(p);
            return s;
        }
        s.turns[s.count++] = key;
    }
    return s;
}

static struct set both(struct parser *p, struct set a, struct set b)
{
    return not_in(either(p, not_in(a), not_in(b)));
}

/* ---- keys and numbers ------------------------------------------------------------------------ */

uint64_t key_of_element(enum element element, const void *array, size_t index)
{
    switch (element) {
    case ELEMENT_F32: return key_of_f32(((const float *)array)[index]);
    case ELEMENT_F64: return key_of_f64(((const double *)array)[index]);
    case ELEMENT_I32: return key_of_i32(((const int32_t *)array)[index]);
    default: return key_of_i64(((const int64_t *)array)[index]);
    }
}

static long double number_of_key(enum element element, uint64_t key)
{
    uint32_t key32 = (uint32_t)key, bits32 = key32 >> 31 ? key32 ^ 0x80000000u : ~key32;
    uint64_t bits = key >> 63 ? key ^ 0x8000000000000000u : ~key;
    float f;
    double d;
    memcpy(&f, &bits32, sizeof f);
    memcpy(&d, &bits, sizeof d);
    switch (element) {
    case ELEMENT_F32: return f;
    case ELEMENT_F64: return d;
    case ELEMENT_I32: return (int32_t)(key32 ^ 0x80000000u);
    default: return (int64_t)(key ^ 0x8000000000000000u);
    }
}

/* The keys of the numbers below `number`, and of itself if `with_it`. */
static struct set up_to(const struct parser *p, long double number, bool with_it)
{
    uint64_t low = p->least, high = p->most; /* the last one lies between them, if there is any */
    long double least = number_of_key(p->element, low);
    if (!(with_it ? least <= number : least < number)) return nothing();
    while (low < high) {
        uint64_t middle = low + (high - low) / 2 + 1;
        long double x = number_of_key(p->element, middle);
        if (with_it ? x <= number : x < number)
            low = middle;
        else
            high = middle - 1;
    }
    return from_to(p, p->least, low);
}

enum operator{ LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL };

static struct set compared(struct parser *p, enum operator operator, long double number)
{
    struct set numbers = from_to(p, p->least, p->most);
    if (isnan(number)) return operator== UNEQUAL ? not_in(nothing()) : nothing();
    struct set below = up_to(p, number, false), with_it = up_to(p, number, true);
    switch (operator) {
    case LESS: return below;
    case LESS_EQUAL: return with_it;
    case GREATER: return both(p, numbers, not_in(with_it));
    case GREATER_EQUAL: return both(p, numbers, not_in(below));
    case EQUAL: return both(p, with_it, not_in(below));
    default: return not_in(both(p, with_it, not_in(below)));
    }
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static void skip_spaces(struct parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static void wrong(struct parser *p, const char *expected)
{
    if (p->code) return;
    skip_spaces(p);
    p->place = (int)(p->at - p->text);
    p->code = fail(p->fault, EXIT_USAGE, "--keep \"%.200s\": %s is expected at character %d.",
                   p->text, expected, p->place + 1);
}

static bool take(struct parser *p, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(p);
    if (strncmp(p->at, word, length) != 0) return false;
    if (isalpha((unsigned char)*word) && (isalnum((unsigned char)p->at[length]))) return false;
    p->at += length;
    return true;
}

static bool take_operator(struct parser *p, enum operator* operator)
{
    static const struct {
        const char *text;
        enum operator operator;
    } table[] = {{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"==", EQUAL},
                 {"!=", UNEQUAL},    {"<", LESS},           {">", GREATER}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (take(p, table[i].text)) {
            *operator= table[i].operator;
            return true;
        }
    return false;
}

static bool take_number(struct parser *p, long double *number)
{
    char *end;
    skip_spaces(p);
    *number = strtold(p->at, &end); /* exact for integers of 64 bits */
    if (p->element == ELEMENT_F32) *number = strtof(p->at, NULL);
    if (p->element == ELEMENT_F64) *number = strtod(p->at, NULL);
    if (end == p->at || *p->at == 'x') return false;
    p->at = end;
    return true;
}

/* What follows an x: OP number, or nothing: the x is not 0. */
static struct set parse_after_x(struct parser *p)
{
    enum operator operator;
    long double number = 0;
    if (!take_operator(p, &operator)) return compared(p, UNEQUAL, 0);
    if (!take_number(p, &number)) wrong(p, "a number");
    return compared(p, operator, number);
}

/* number OP x, number OP x OP number; number OP x means x OP' number. */
static struct set parse_number_first(struct parser *p, long double number)
{
    static const enum operator turned[] = {GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL,
                                           UNEQUAL};
    enum operator operator= EQUAL;
    if (!take_operator(p, &operator)) wrong(p, "a comparison");
    if (!p->code && !take(p, "x")) wrong(p, "x");
    struct set left = compared(p, turned[operator], number);
    skip_spaces(p);
    return *p->at && strchr("<>=!", *p->at) ? both(p, left, parse_after_x(p)) : left;
}

static struct set parse_or(struct parser *p);

static struct set parse_not(struct parser *p)
{
    long double number;
    struct set result = nothing();
    if (p->code) return result;
    if (++p->depth > DEEP) {
        p->place = (int)(p->at - p->text);
        p->code =
            fail(p->fault, EXIT_USAGE,
                 "--keep: at character %d more than %d brackets and nots are within each other; "
                 "leave out those that are not needed.",
                 p->place + 1, DEEP);
        return result;
    }
    if (take(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && take(p, "!"))) {
        result = not_in(parse_not(p));
    } else if (take(p, "isnan")) {
        if (!(take(p, "(") && take(p, "x") && take(p, ")"))) wrong(p, "(x)");
        result = not_in(from_to(p, p->least, p->most));
    } else if (take(p, "(")) {
        result = parse_or(p);
        if (!p->code && !take(p, ")")) wrong(p, "\")\"");
    } else if (take(p, "x")) {
        result = parse_after_x(p);
    } else if (take_number(p, &number)) {
        result = parse_number_first(p, number);
    } else {
        wrong(p, "x, a number, isnan(x), not or \"(\"");
    }
    p->depth--;
    return result;
}

static struct set parse_and(struct parser *p)
{
    struct set result = parse_not(p);
    while (!p->code && (take(p, "and") || take(p, "&&"))) result = both(p, result, parse_not(p));
    return result;
}

static struct set parse_or(struct parser *p)
{
    struct set result = parse_and(p);
    while (!p->code && (take(p, "or") || take(p, "||"))) result = either(p, result, parse_and(p));
    return result;
}

static struct parser parser_for(const char *expression, enum element element, struct fault *fault)
{
    struct parser p = {
        .text = expression, .at = expression, .element = element, .place = -1, .fault = fault};
    bool wide = element == ELEMENT_F64 || element == ELEMENT_I64;
    p.all = wide ? UINT64_MAX : UINT32_MAX;
    p.most = p.all;
    if (element == ELEMENT_F32) p.least = key_of_f32(-INFINITY), p.most = key_of_f32(INFINITY);
    if (element == ELEMENT_F64) p.least = key_of_f64(-INFINITY), p.most = key_of_f64(INFINITY);
    return p;
}

int predicate_parse(struct predicate *predicate, const char *expression, enum element element,
                    int *place, struct fault *fault)
{
    struct parser p = parser_for(expression, element, fault);
    struct set set = parse_or(&p);
    skip_spaces(&p);
    if (!p.code && *p.at) wrong(&p, "and, or, or the end");
    unsigned turns = set.count + set.has_0;
    if (!p.code && turns > 2 * COMPACT_INTERVALS_MOST) too_many(&p);
    *place = p.place;
    if (p.code) return p.code;
    *predicate = (struct predicate){0};
    uint64_t first = 0;
    bool in = set.has_0;
    for (unsigned i = 0; i <= set.count; i++) { /* and after all turns up to the greatest key */
        uint64_t last = i < set.count ? set.turns[i] - 1 : p.all;
        if (in)
            predicate->interval[predicate->count++] = (struct key_interval){first, last - first};
        first = last + 1;
        in = !in;
    }
    return 0;
}

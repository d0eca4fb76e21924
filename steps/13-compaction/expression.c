/*
 * expression.c — a small recursive-descent parser. Each rule returns a set of keys: intervals in
 * ascending order, with gaps between them.
 */
#include "common/files/fault.h"
#include "step13.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define ROOM (2 * COMPACT_INTERVALS_MOST) /* intervals of a set on the way */
#define DEEP 64                           /* brackets in brackets, and nots */

struct set {
    unsigned count;
    struct {
        uint64_t first, last;
    } of[ROOM];
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

static struct set from_to(uint64_t first, uint64_t last)
{
    return first > last ? nothing() : (struct set){1, {{first, last}}};
}

static void too_many(struct parser *p)
{
    if (!p->code)
        p->code = fail(
            p->fault, EXIT_USAGE,
            "--keep: the expression has more than %d separate intervals; keep fewer at a time.",
            COMPACT_INTERVALS_MOST);
}

/* Appends an interval behind all others, or to the last one if there is no gap. */
static void append(struct parser *p, struct set *s, uint64_t first, uint64_t last)
{
    if (s->count > 0 &&
        (s->of[s->count - 1].last >= first || first - s->of[s->count - 1].last == 1)) {
        if (last > s->of[s->count - 1].last) s->of[s->count - 1].last = last;
        return;
    }
    if (s->count == ROOM) {
        too_many(p);
        return;
    }
    s->of[s->count].first = first;
    s->of[s->count++].last = last;
}

static struct set either(struct parser *p, struct set a, struct set b)
{
    struct set s = {0};
    for (unsigned i = 0, k = 0; i < a.count || k < b.count;) {
        if (k == b.count || (i < a.count && a.of[i].first <= b.of[k].first)) {
            append(p, &s, a.of[i].first, a.of[i].last);
            i++;
        } else {
            append(p, &s, b.of[k].first, b.of[k].last);
            k++;
        }
    }
    return s;
}

static struct set complement(struct parser *p, struct set a)
{
    struct set s = {0};
    uint64_t next = 0;
    for (unsigned i = 0; i < a.count; i++) {
        if (a.of[i].first > next) append(p, &s, next, a.of[i].first - 1);
        if (a.of[i].last == p->all) return s;
        next = a.of[i].last + 1;
    }
    append(p, &s, next, p->all);
    return s;
}

static struct set both(struct parser *p, struct set a, struct set b)
{
    return complement(p, either(p, complement(p, a), complement(p, b)));
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

/* How many keys of numbers lie below `number`, or up to it if `with_it`. */
static uint64_t keys_below(const struct parser *p, long double number, bool with_it)
{
    uint64_t low = 0, high = p->most - p->least; /* the answer, less one if all are */
    long double greatest = number_of_key(p->element, p->most);
    if (greatest < number || (with_it && greatest == number)) return high + 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        long double x = number_of_key(p->element, p->least + middle);
        if (x < number || (with_it && x == number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first `count` keys of numbers: none if count is 0. For 64-bit integers the count of all keys
 * is 0 modulo 2^64, so whether there are any is passed along. */
static struct set first_keys(const struct parser *p, long double number, bool with_it)
{
    long double least = number_of_key(p->element, p->least);
    if (number < least || (!with_it && number == least)) return nothing();
    return from_to(p->least, p->least + (keys_below(p, number, with_it) - 1));
}

enum operator{ LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL };

static struct set compared(struct parser *p, enum operator operator, long double number)
{
    struct set all = from_to(0, p->all), numbers = from_to(p->least, p->most);
    if (isnan(number)) return operator== UNEQUAL ? all : nothing();
    struct set below = first_keys(p, number, false), up_to = first_keys(p, number, true);
    switch (operator) {
    case LESS: return below;
    case LESS_EQUAL: return up_to;
    case GREATER: return both(p, numbers, complement(p, up_to));
    case GREATER_EQUAL: return both(p, numbers, complement(p, below));
    case EQUAL: return both(p, up_to, complement(p, below));
    default: return complement(p, both(p, up_to, complement(p, below)));
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

/* number OP x means x OP' number. */
static enum operator turned(enum operator operator)
{
    static const enum operator other[] = {GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, UNEQUAL};
    return other[operator];
}

/* x, x OP number */
static struct set parse_x(struct parser *p)
{
    enum operator operator;
    long double number = 0;
    if (!take_operator(p, &operator)) return compared(p, UNEQUAL, 0);
    if (!take_number(p, &number)) wrong(p, "a number");
    return compared(p, operator, number);
}

/* number OP x, number OP x OP number */
static struct set parse_number_first(struct parser *p, long double number)
{
    enum operator operator= EQUAL;
    if (!take_operator(p, &operator)) wrong(p, "a comparison");
    if (!p->code && !take(p, "x")) wrong(p, "x");
    struct set left = compared(p, turned(operator), number);
    if (!take_operator(p, &operator)) return left;
    if (!take_number(p, &number)) wrong(p, "a number");
    return both(p, left, compared(p, operator, number));
}

static struct set parse_or(struct parser *p);

static struct set parse_brackets(struct parser *p)
{
    struct set inner = parse_or(p);
    if (!p->code && !take(p, ")")) wrong(p, "\")\"");
    return inner;
}

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
    if (take(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && take(p, "!")))
        result = complement(p, parse_not(p));
    else if (take(p, "isnan"))
        result = take(p, "(") && take(p, "x") && take(p, ")")
                     ? complement(p, from_to(p->least, p->most))
                     : (wrong(p, "(x)"), result);
    else if (take(p, "("))
        result = parse_brackets(p);
    else if (take(p, "x"))
        result = parse_x(p);
    else if (take_number(p, &number))
        result = parse_number_first(p, number);
    else
        wrong(p, "x, a number, isnan(x), not or \"(\"");
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
    if (!p.code && set.count > COMPACT_INTERVALS_MOST) too_many(&p);
    *place = p.place;
    if (p.code) return p.code;
    *predicate = (struct predicate){.count = set.count};
    for (unsigned i = 0; i < set.count; i++)
        predicate->interval[i] =
            (struct key_interval){set.of[i].first, set.of[i].last - set.of[i].first};
    return 0;
}

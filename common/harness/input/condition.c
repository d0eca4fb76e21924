/*
 * condition.c — a small recursive-descent parser. Each rule says whether it is true of one number.
 *
 * The answer changes from one key to the next only where a comparison of the expression changes.
 * The rules note these keys on the way, so parsing once for each of them finds all intervals.
 */
#include "input.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEEP 64 /* brackets in brackets, and nots */

struct parser {
    const char *text, *at; /* `at`: what is read next */
    const char *option;
    enum element element;
    uint64_t least, most; /* keys of the least and the greatest number; NaNs are beyond */
    long double x;        /* the element that is asked about */
    uint64_t *turns;      /* NULL, or the keys with which the answer may change */
    size_t count;         /* of the keys */
    int depth;
    struct fault *fault;
    int code; /* not 0: fault says why */
};

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Notes the first key that is not below `number`, and the first one above it. */
static void note_turns(struct parser *p, long double number)
{
    for (int above = 0; above < 2 && p->turns; above++) {
        uint64_t low = p->least, high = p->most;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            long double x = element_of_key(p->element, middle);
            if (above ? x > number : x >= number)
                high = middle;
            else
                low = middle + 1;
        }
        p->turns[p->count++] = low;
    }
}

enum { BELOW = 1, EQUAL = 2, ABOVE = 4, UNORDERED = 8 };

/* The operators, and for which relations of the left number to the right one each is true. */
static const struct {
    const char *text;
    int is_true;
} operators[] = {{"<=", BELOW | EQUAL}, {">=", ABOVE | EQUAL}, {"==", EQUAL},
                 {"!=", ~EQUAL},        {"<", BELOW},          {">", ABOVE}};

static bool compare(long double a, int is_true, long double b)
{
    int relation = a < b ? BELOW : a == b ? EQUAL : a > b ? ABOVE : UNORDERED;
    return is_true & relation;
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
    p->code = fail(p->fault, EXIT_USAGE, "%s \"%.200s\": %s is expected at character %d.",
                   p->option, p->text, expected, (int)(p->at - p->text) + 1);
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

/* For which relations the operator that follows is true; 0: none follows. */
static int take_operator(struct parser *p)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (take(p, operators[i].text)) return operators[i].is_true;
    return 0;
}

static bool take_number(struct parser *p, long double *number)
{
    char *end;
    skip_spaces(p);
    *number = strtold(p->at, &end); /* exact for integers of 64 bits */
    if (p->element == ELEMENT_F32) *number = strtof(p->at, NULL);
    if (p->element == ELEMENT_F64) *number = strtod(p->at, NULL);
    if (end == p->at) return false;
    p->at = end;
    note_turns(p, *number);
    return true;
}

/* What follows an x: OP number, or nothing: the x is not 0. */
static bool parse_after_x(struct parser *p)
{
    long double number;
    int is_true = take_operator(p);
    if (!is_true) {
        note_turns(p, 0);
        return p->x != 0;
    }
    if (!take_number(p, &number)) wrong(p, "a number");
    return compare(p->x, is_true, number);
}

/* number OP x, number OP x OP number */
static bool parse_number_first(struct parser *p, long double number)
{
    int is_true = take_operator(p);
    if (!is_true) wrong(p, "a comparison");
    if (!p->code && !take(p, "x")) wrong(p, "x");
    bool left = compare(number, is_true, p->x);
    skip_spaces(p);
    return *p->at && strchr("<>=!", *p->at) ? parse_after_x(p) && left : left;
}

static bool parse_or(struct parser *p);

static bool parse_not(struct parser *p)
{
    long double number;
    bool result = false;
    if (p->code) return false;
    if (++p->depth > DEEP) {
        p->code =
            fail(p->fault, EXIT_USAGE,
                 "%s: at character %d more than %d brackets and nots are within each other; "
                 "leave out those that are not needed.",
                 p->option, (int)(p->at - p->text) + 1, DEEP);
        return false;
    }
    if (take(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && take(p, "!"))) {
        result = !parse_not(p);
    } else if (take(p, "isnan")) {
        if (!(take(p, "(") && take(p, "x") && take(p, ")"))) wrong(p, "(x)");
        result = isnan(p->x);
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

/* The right side is parsed whatever the left one is. */
static bool parse_and(struct parser *p)
{
    bool result = parse_not(p);
    while (!p->code && (take(p, "and") || take(p, "&&"))) result = parse_not(p) && result;
    return result;
}

static bool parse_or(struct parser *p)
{
    bool result = parse_and(p);
    while (!p->code && (take(p, "or") || take(p, "||"))) result = parse_and(p) || result;
    return result;
}

/* Is the whole expression true of the element with this key? */
static bool keeps(struct parser *p, uint64_t key)
{
    p->at = p->text;
    p->x = element_of_key(p->element, key);
    bool result = parse_or(p);
    skip_spaces(p);
    if (!p->code && *p->at) wrong(p, "and, or, or the end");
    return result;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Every interval begins and ends at a turn. */
static void find_intervals(struct parser *p, struct condition *found, const uint64_t *turns,
                           uint64_t all)
{
    bool in = false;
    for (size_t i = 0; i < p->count; i++) {
        bool was_in = in, is_last = i + 1 == p->count;
        if (!is_last && turns[i + 1] == turns[i]) continue;
        in = keeps(p, turns[i]);
        if (!in) continue;
        if (!was_in && found->count == CONDITION_INTERVALS_MOST) {
            p->code = fail(
                p->fault, EXIT_USAGE,
                "%s: the expression has more than %d separate intervals; keep fewer at a time.",
                p->option, CONDITION_INTERVALS_MOST);
            return;
        }
        if (!was_in) found->interval[found->count++].first = turns[i];
        found->interval[found->count - 1].last = is_last ? all : turns[i + 1] - 1;
    }
}

int condition_read(struct condition *c, const char *text, enum element element, const char *option,
                   struct fault *fault)
{
    uint64_t all = UINT64_MAX >> (64 - 8 * element_size(element)); /* the greatest key */
    size_t room = 2 * strlen(text) + 3; /* a comparison has a character, and two turns */
    uint64_t *turns = allocated(malloc(room * sizeof *turns));
    struct parser p = {.text = text,
                       .option = option,
                       .element = element,
                       .most = all,
                       .turns = turns,
                       .fault = fault};
    if (element_is_real(element)) {
        double infinite[] = {-INFINITY, INFINITY};
        float narrow[] = {-INFINITY, INFINITY};
        const void *ends = element == ELEMENT_F32 ? (void *)narrow : infinite;
        p.least = element_key(element, ends, 0), p.most = element_key(element, ends, 1);
    }
    turns[p.count++] = 0;
    turns[p.count++] = p.least;
    turns[p.count++] = p.most == all ? 0 : p.most + 1;
    keeps(&p, 0);
    qsort(turns, p.count, sizeof *turns, compare_keys);
    p.turns = NULL;
    *c = (struct condition){0};
    if (!p.code) find_intervals(&p, c, turns, all);
    free(turns);
    return p.code;
}

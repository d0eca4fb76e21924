/* size.c — sizes as people write them, like 64K and 2^20. */
#include "element.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *suffix;
    size_t factor;
} units[] = {
    /* the longer suffixes first: "Ki" begins with "K" */
    {"Ki", (size_t)1 << 10},
    {"Mi", (size_t)1 << 20},
    {"Gi", (size_t)1 << 30},
    {"Ti", (size_t)1 << 40},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", 1000000000000},
    {"k", 1000},
};

enum size_problem { FINE, NOT_A_SIZE, TOO_LARGE };

static enum size_problem parse_digits(const char **text, size_t *value)
{
    if (!isdigit((unsigned char)**text)) return NOT_A_SIZE;
    *value = 0;
    enum size_problem problem = FINE;
    for (; isdigit((unsigned char)**text); ++*text) {
        if (__builtin_mul_overflow(*value, (size_t)10, value) ||
            __builtin_add_overflow(*value, (size_t)(**text - '0'), value))
            problem = TOO_LARGE; /* go on reading: "99…9x" is not a size */
    }
    return problem;
}

/* term = digits [ "^" digits | unit ] */
static enum size_problem parse_term(const char **text, size_t *value)
{
    enum size_problem problem = parse_digits(text, value);
    if (problem == NOT_A_SIZE) return problem;
    if (**text == '^') {
        ++*text;
        size_t exponent, base = *value;
        enum size_problem of_exponent = parse_digits(text, &exponent);
        if (of_exponent) return of_exponent;
        *value = 1;
        for (size_t i = 0; i < exponent && base > 1; i++)
            if (__builtin_mul_overflow(*value, base, value)) return TOO_LARGE;
        if (base == 0 && exponent > 0) *value = 0;
        return problem;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].suffix);
        if (strncmp(*text, units[i].suffix, length) != 0) continue;
        *text += length;
        if (__builtin_mul_overflow(*value, units[i].factor, value)) return TOO_LARGE;
        break;
    }
    return problem;
}

/* size = term { "+" term | "-" term } */
static enum size_problem parse_sum(const char *text, size_t *value)
{
    enum size_problem problem = parse_term(&text, value);
    while (problem != NOT_A_SIZE && (*text == '+' || *text == '-')) {
        bool minus = *text++ == '-';
        size_t term;
        enum size_problem of_term = parse_term(&text, &term);
        if (of_term) return of_term;
        if (minus && term > *value) return NOT_A_SIZE;
        if (minus)
            *value -= term;
        else if (__builtin_add_overflow(*value, term, value))
            problem = TOO_LARGE;
    }
    return *text ? NOT_A_SIZE : problem;
}

int size_parse(const char *text, const char *name, size_t *size, struct fault *fault)
{
    switch (parse_sum(text, size)) {
    case FINE: return 0;
    case TOO_LARGE:
        return fail(fault, EXIT_USAGE, "%s %.60s is beyond what 64 bits can count.", name, text);
    default:
        return fail(fault, EXIT_USAGE,
                    "%s \"%.60s\" is not a size; write for example 1000, 64K, 1Mi, 2^20 or 2^20+1.",
                    name, text);
    }
}

bool size_whole(const char *text, size_t *size)
{
    return parse_sum(text, size) == FINE && *size > 0;
}

bool size_pair(const char *text, size_t *first, size_t *second)
{
    char begin[32];
    const char *cross = strchr(text, 'x');
    size_t length = cross ? (size_t)(cross - text) : sizeof begin;
    if (length >= sizeof begin) return false;
    memcpy(begin, text, length);
    begin[length] = '\0';
    return size_whole(begin, first) && size_whole(cross + 1, second);
}

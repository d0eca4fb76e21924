/* element.c — the types of elements, and sizes as people write them, like 64K and 2^20. */
#include "element.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *plural;
    size_t size;
    bool real;
    enum element sum;
    double roundoff;
    long double max, exact_max;
} table[] = {
    [ELEMENT_F32] = {"float", "floats", 4, true, ELEMENT_F32, FLT_EPSILON / 2, FLT_MAX, 0x1p24L},
    [ELEMENT_F64] = {"double", "doubles", 8, true, ELEMENT_F64, DBL_EPSILON / 2, DBL_MAX, 0x1p53L},
    [ELEMENT_I32] = {"int32", "32-bit integers", 4, false, ELEMENT_I32, 0, INT32_MAX, INT32_MAX},
    [ELEMENT_I64] = {"int64", "64-bit integers", 8, false, ELEMENT_I64, 0, (long double)INT64_MAX,
                     (long double)INT64_MAX},
    [ELEMENT_I16] = {"int16", "16-bit integers", 2, false, ELEMENT_I32, 0, INT16_MAX, INT16_MAX},
    [ELEMENT_I8] = {"int8", "8-bit integers", 1, false, ELEMENT_I32, 0, INT8_MAX, INT8_MAX},
    [ELEMENT_U32] = {"uint32", "unsigned 32-bit integers", 4, false, ELEMENT_U32, 0, UINT32_MAX,
                     UINT32_MAX},
    [ELEMENT_U64] = {"uint64", "unsigned 64-bit integers", 8, false, ELEMENT_U64, 0,
                     (long double)UINT64_MAX, (long double)UINT64_MAX},
};

size_t element_size(enum element e) { return table[e].size; }
const char *element_name(enum element e) { return table[e].name; }
const char *element_plural(enum element e) { return table[e].plural; }

const char *element_short(enum element element)
{
    static const char *const names[] = {[ELEMENT_F32] = "f32", [ELEMENT_F64] = "f64",
                                        [ELEMENT_I32] = "i32", [ELEMENT_I64] = "i64",
                                        [ELEMENT_I16] = "i16", [ELEMENT_I8] = "i8",
                                        [ELEMENT_U32] = "u32", [ELEMENT_U64] = "u64"};
    return names[element];
}

bool element_choose(const char *name, const enum element *types, size_t count,
                    enum element *element)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, element_short(types[i])) == 0) {
            *element = types[i];
            return true;
        }
    return false;
}

struct element_words element_words(enum element e, size_t n)
{
    struct element_words words;
    int letters = (int)strlen(table[e].plural) - (n == 1); /* without the s */
    snprintf(words.s, sizeof words.s, "%.*s", letters, table[e].plural);
    return words;
}

bool element_is_real(enum element e) { return table[e].real; }
enum element element_of_sum(enum element e) { return table[e].sum; }
double element_roundoff(enum element e) { return table[e].roundoff; }
long double element_max(enum element e) { return table[e].max; }
long double element_exact_max(enum element e) { return table[e].exact_max; }

void element_widen(enum element element, const void *from, size_t start, size_t count,
                   long double *to)
{
#define WIDEN(name, type, sum)                                                                     \
    case name:                                                                                     \
        for (size_t i = 0; i < count; i++) to[i] = ((const type *)from)[start + i];                \
        break;
    switch (element) {
        ELEMENT_TYPES(WIDEN)
    }
#undef WIDEN
}

void element_to_doubles(enum element element, const void *from, size_t start, size_t count,
                        double *to)
{
    const float *floats = (const float *)from + start;
    if (element == ELEMENT_F64)
        memcpy(to, (const double *)from + start, count * sizeof *to);
    else
        for (size_t i = 0; i < count; i++) to[i] = floats[i];
}

/* Bits of numbers of this type, as they are in memory of a little-endian host. */
static uint64_t all_bits(enum element e) { return UINT64_MAX >> (64 - 8 * table[e].size); }
static uint64_t sign_bit(enum element e)
{
    bool is_unsigned = e == ELEMENT_U32 || e == ELEMENT_U64;
    return is_unsigned ? 0 : all_bits(e) ^ all_bits(e) >> 1;
}

uint64_t element_key(enum element element, const void *array, size_t index)
{
    uint64_t bits = 0, sign = sign_bit(element);
    memcpy(&bits, (const char *)array + index * table[element].size, table[element].size);
    return bits ^ (table[element].real && bits & sign ? all_bits(element) : sign);
}

long double element_of_key(enum element element, uint64_t key)
{
    _Alignas(uint64_t) unsigned char array[sizeof(uint64_t)];
    long double number;
    uint64_t sign = sign_bit(element);
    uint64_t bits = key ^ (table[element].real && !(key & sign) ? all_bits(element) : sign);
    memcpy(array, &bits, sizeof array);
    element_widen(element, array, 0, 1, &number);
    return number;
}

/* 2^63 and 2^64, the first doubles beyond int64 and uint64. */
#define INT64_END  0x1p63
#define UINT64_END 0x1p64

enum conversion element_store_real(enum element element, void *array, size_t index, double value)
{
    if (element == ELEMENT_F64) {
        ((double *)array)[index] = value;
        return CONVERT_EXACT;
    }
    if (element == ELEMENT_F32) {
        float nearest = (float)value;
        if (isinf(nearest) && !isinf(value)) return CONVERT_OUT_OF_RANGE;
        ((float *)array)[index] = nearest;
        return nearest == value || isnan(value) ? CONVERT_EXACT : CONVERT_ROUNDED;
    }
    if (isnan(value)) return CONVERT_NAN;
    double nearest = nearbyint(value);
    if (element == ELEMENT_U64 && nearest >= INT64_END && nearest < UINT64_END) {
        ((uint64_t *)array)[index] = (uint64_t)nearest;
        return CONVERT_EXACT;
    }
    if (value < -INT64_END || value >= INT64_END) return CONVERT_OUT_OF_RANGE;
    enum conversion integer = element_store_integer(element, array, index, (int64_t)nearest);
    return integer == CONVERT_EXACT && nearest != value ? CONVERT_ROUNDED : integer;
}

enum conversion element_store_integer(enum element element, void *array, size_t index,
                                      int64_t value)
{
    switch (element) {
    case ELEMENT_F32: {
        float nearest = (float)value;
        ((float *)array)[index] = nearest;
        return nearest < (float)INT64_END && (int64_t)nearest == value ? CONVERT_EXACT
                                                                       : CONVERT_ROUNDED;
    }
    case ELEMENT_F64: {
        double nearest = (double)value;
        ((double *)array)[index] = nearest;
        return nearest < INT64_END && (int64_t)nearest == value ? CONVERT_EXACT : CONVERT_ROUNDED;
    }
#define NARROW(name, type, sum)                                                                    \
    case name:                                                                                     \
        if ((int64_t)(type)value != value || (name == ELEMENT_U64 && value < 0))                   \
            return CONVERT_OUT_OF_RANGE;                                                           \
        ((type *)array)[index] = (type)value;                                                      \
        return CONVERT_EXACT;
        INTEGER_TYPES(NARROW)
#undef NARROW
    }
    return CONVERT_OUT_OF_RANGE;
}

enum conversion element_store_unsigned(enum element element, void *array, size_t index,
                                       uint64_t value)
{
    if (value <= INT64_MAX) return element_store_integer(element, array, index, (int64_t)value);
    if (element == ELEMENT_U64) {
        ((uint64_t *)array)[index] = value;
        return CONVERT_EXACT;
    }
    if (!element_is_real(element)) return CONVERT_OUT_OF_RANGE;
    /* A long double holds each uint64 exactly, and also the real number that it is rounded to. */
    long double stored;
    element_store_real(element, array, index,
                       element == ELEMENT_F32 ? (float)value : (double)value);
    element_widen(element, array, index, 1, &stored);
    return stored == (long double)value ? CONVERT_EXACT : CONVERT_ROUNDED;
}

void element_text(enum element element, const void *array, size_t index, char *text, size_t size)
{
#define PRINT(name, type, sum)                                                                     \
    case name:                                                                                     \
        if (name == ELEMENT_U64)                                                                   \
            snprintf(text, size, "%llu", (unsigned long long)((const type *)array)[index]);        \
        else                                                                                       \
            snprintf(text, size, "%lld", (long long)((const type *)array)[index]);                 \
        break;
    switch (element) {
    case ELEMENT_F32: snprintf(text, size, "%.9g", (double)((const float *)array)[index]); break;
    case ELEMENT_F64: snprintf(text, size, "%.17g", ((const double *)array)[index]); break;
        INTEGER_TYPES(PRINT)
    }
#undef PRINT
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const struct {
    const char *suffix;
    uint64_t factor;
} units[] = {
    /* the longer suffixes first: "Ki" begins with "K" */
    {"Ki", UINT64_C(1) << 10},
    {"Mi", UINT64_C(1) << 20},
    {"Gi", UINT64_C(1) << 30},
    {"Ti", UINT64_C(1) << 40},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", UINT64_C(1000000000000)},
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

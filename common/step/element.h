/* element.h — the types that an element can have, and sizes as users write them. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "step.h"
#include "common/files/fault.h"
#include <stddef.h>

/* ---- the types that an element can have ------------------------------------------------------ */

/* The types that an element can have: their names and sizes, and conversion to and
 * from the widest types. */

#ifdef __cplusplus
extern "C" {
#endif

/* The types of elements, for a switch that does the same for each of them: TYPE(element, its type
 * in C, the type of its sums). For example:
 *
 *     #define CASE(element, type, sum) case element: return find_in((const type *)array);
 *     switch (element) { ELEMENT_TYPES(CASE) }
 */
#define ELEMENT_TYPES(TYPE)                                                                        \
    TYPE(ELEMENT_F32, float, float)                                                                \
    TYPE(ELEMENT_F64, double, double)                                                              \
    INTEGER_TYPES(TYPE)

#define INTEGER_TYPES(TYPE)                                                                        \
    TYPE(ELEMENT_I32, int32_t, int32_t)                                                            \
    TYPE(ELEMENT_I64, int64_t, int64_t)                                                            \
    TYPE(ELEMENT_I16, int16_t, int32_t)                                                            \
    TYPE(ELEMENT_I8, int8_t, int32_t)                                                              \
    TYPE(ELEMENT_U32, uint32_t, uint32_t)                                                          \
    TYPE(ELEMENT_U64, uint64_t, uint64_t)

size_t element_size(enum element);
const char *element_name(enum element);   /* "float", "int64", … */
const char *element_short(enum element);  /* "f32", "i64", … */
/* Is it the short name of one of `count` types? Then *element becomes this one. */
bool element_choose(const char *name, const enum element *types, size_t count, enum element *);
const char *element_plural(enum element); /* "floats" */
/* "float" if n is 1, else "floats" */
struct element_words {
    char s[32];
};
struct element_words element_words(enum element, size_t n);

bool element_is_real(enum element);

/* Sums are as wide as elements, except those of 8 and 16 bits, which are summed in 32. */
enum element element_of_sum(enum element);

/* The unit roundoff u: half the distance from 1 to the next number. 0 for integers. */
double element_roundoff(enum element);
/* The largest finite number. */
long double element_max(enum element);
/* Integers up to here (in magnitude) are held exactly: 2^24 for float. */
long double element_exact_max(enum element);

/* to[i] = from[start + i] for count elements. long double holds each of the types exactly. */
void element_widen(enum element, const void *from, size_t start, size_t count, long double *to);

/* Widens ELEMENT_F32 and ELEMENT_F64 to double, which is faster. */
void element_to_doubles(enum element, const void *from, size_t start, size_t count, double *to);

/* The key of a number: unsigned, and in the order of the numbers. -0 comes just before +0; NaNs lie
 * below -infinity or above +infinity. Only for types of 4 and 8 bytes. */
uint64_t element_key(enum element, const void *array, size_t index);
/* The number with this key. */
long double element_of_key(enum element, uint64_t key);

/* How a conversion went. CONVERT_ROUNDED: the nearest number was taken, as programs in C do it with
 * 0.1f. */
enum conversion { CONVERT_EXACT, CONVERT_ROUNDED, CONVERT_OUT_OF_RANGE, CONVERT_NAN };

/* array[index] = value, or the nearest value that the type holds. Real types keep NaN and
 * infinities. Integer types have no NaN (CONVERT_NAN), infinities are out of their range, and
 * nothing is stored. */
enum conversion element_store_real(enum element, void *array, size_t index, double value);
enum conversion element_store_integer(enum element, void *array, size_t index, int64_t value);
enum conversion element_store_unsigned(enum element, void *array, size_t index, uint64_t value);

/* array[index] as the shortest text that names it: "%.9g" for float. */
void element_text(enum element, const void *array, size_t index, char *text, size_t size);

#ifdef __cplusplus
}
#endif

/* ---- reads a number of elements as users write it -------------------------------------------- */

/* Reads a number of elements as users write it: 1000, 64K or 1M (decimal), 64Ki or 1Mi
 * (binary), 2^20. Sums and differences of these are allowed: 2^31+5, 1Mi-1. */

/* Reads `text` as a size. Returns 0, or EXIT_USAGE and a sentence that begins with `name`, the name
 * of the option. */
int size_parse(const char *text, const char *name, size_t *size, struct fault *);

/* Is it a size from 1 on; or two of them, as in "640x480"? */
bool size_whole(const char *text, size_t *size);
bool size_pair(const char *text, size_t *first, size_t *second);

#endif

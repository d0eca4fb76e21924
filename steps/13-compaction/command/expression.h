/*
 * expression.h — what the user writes after --keep, as a predicate.
 *
 *     x > 0.5        comparisons: < <= > >= == != between x and a number, also 0 < x <= 1
 *     x              x is not 0
 *     isnan(x)       x is a NaN
 *     not a, !a;  a and b, a && b;  a or b, a || b;  (a)      in this order of precedence
 *
 * Meanings are C's: a comparison with a NaN is false, except that x != 1 is true for it. A
 * number becomes one of the element's type first if that is a real one: the same number that it
 * would be in a file. Where elements are integers, it is compared as it is.
 */
#ifndef STEP13_EXPRESSION_H
#define STEP13_EXPRESSION_H

#include "common/command/fault.h"
#include "common/step/step.h"
#include "steps/13-compaction/parts/predicate.h"

/* Reads an expression about elements of float, double, int32 or int64. Returns 0, or EXIT_USAGE: it
 * does not parse, and then *place is the index of the character where something else was expected,
 * or it has more than COMPACT_INTERVALS_MOST intervals (*place is -1). */
int predicate_parse(struct predicate *, const char *expression, enum element, int *place,
                    struct fault *);

/* The key of an element on the host. */
uint64_t key_of_element(enum element, const void *array, size_t index);

#endif

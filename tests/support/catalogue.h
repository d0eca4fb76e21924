/*
 * catalogue.h — the pairs in the catalogues of tests/cases/checks. A pair begins with the comment
 * `NAME — …`, and ends before the next empty line.
 */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <stddef.h>
#include <stdio.h>

enum { MAX_PAIRS = 450 };

struct checked {
    char name[60], catalogue[30]; /* tests/cases/checks/NAME.cu, build/pairs/NAME */
    int line;                     /* where it begins */
    long offset;
};

/* The pairs whose names begin so. */
size_t find_pairs(const char *begin, struct checked pairs[MAX_PAIRS]);
struct checked find_pair(const char *name);

/* A parameterized test runs for each of these pairs. */
#define FOR_PAIRS(suite, test, begin)                                                              \
    ParameterizedTestParameters(suite, test)                                                       \
    {                                                                                              \
        static struct checked pairs[MAX_PAIRS];                                                    \
        return cr_make_param_array(struct checked, pairs, find_pairs(begin, pairs));               \
    }                                                                                              \
    ParameterizedTest(struct checked *pair, suite, test)

/* The file of a pair, at its first line. */
FILE *open_pair(const struct checked *);

#endif

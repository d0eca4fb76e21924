/* test_levels.c — the formulas of scans by levels, against numbers made by hand. */
#include "common/step/levels.h"

#include <criterion/criterion.h>

/* Blocks of 10 elements. 101 elements, for example, are scanned by 11 blocks, their sums by 2, and
 * these by 1: 13 sums. */
Test(levels, by_hand)
{
    static const struct {
        size_t n, blocks, sums;
        unsigned above;
        double words;
    } cases[] = {
        {1, 1, 0, 0, 2},
        {10, 1, 0, 0, 20},
        {11, 2, 2, 1, 44},
        {100, 10, 10, 1, 400},
        {101, 11, 13, 2, 404},
        {1000, 100, 110, 2, 4000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = cases[i].n;
        cr_expect_eq(levels_blocks(n, 10), cases[i].blocks, "n = %zu", n);
        cr_expect_eq(levels_above(n, 10), cases[i].above, "n = %zu", n);
        cr_expect_eq(levels_sums(n, 10), cases[i].sums, "n = %zu", n);
        cr_expect_eq(levels_words(n, 10), cases[i].words, "n = %zu", n);
    }
}

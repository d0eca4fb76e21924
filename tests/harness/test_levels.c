/* test_levels.c — the formulas of scans by levels, against numbers made by hand. */
#include "common/step/levels.h"

#include <criterion/criterion.h>

/* Blocks of 10 elements, each of which makes 100 additions. 101 elements, for example, are scanned
 * by 11 blocks, their sums by 2, and these by 1: 14 blocks, 13 sums, and uniform_add to 10 blocks
 * and to 1. */
Test(levels, by_hand)
{
    static const struct {
        size_t n, blocks, sums;
        unsigned above;
        double adds, words;
    } cases[] = {
        {1, 1, 0, 0, 100, 2},
        {10, 1, 0, 0, 100, 20},
        {11, 2, 2, 1, 300 + 10, 44},
        {100, 10, 10, 1, 1100 + 90, 400},
        {101, 11, 13, 2, 1400 + 100 + 10, 404},
        {1000, 100, 110, 2, 11100 + 990 + 90, 4000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = cases[i].n;
        cr_expect_eq(levels_blocks(n, 10), cases[i].blocks, "n = %zu", n);
        cr_expect_eq(levels_above(n, 10), cases[i].above, "n = %zu", n);
        cr_expect_eq(levels_sums(n, 10), cases[i].sums, "n = %zu", n);
        cr_expect_eq(levels_adds(n, 10, 100), cases[i].adds, "n = %zu", n);
        cr_expect_eq(levels_words(n, 10), cases[i].words, "n = %zu", n);
    }
}

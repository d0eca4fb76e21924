/* levels.c — counts the work of a scan by levels. */
#include "levels.h"

size_t levels_blocks(size_t n, size_t each) { return (n + each - 1) / each; }

unsigned levels_above(size_t n, size_t each)
{
    unsigned levels = 0;
    for (; n > each; n = levels_blocks(n, each)) levels++;
    return levels;
}

size_t levels_sums(size_t n, size_t each)
{
    size_t sums = 0;
    for (; n > each; n = levels_blocks(n, each)) sums += levels_blocks(n, each);
    return sums;
}

double levels_words(size_t n, size_t each)
{
    const double once = 2 * (double)n; /* read and written */
    return n > each ? 2 * once : once;
}

#include "tree.h"

#include <stdio.h>
#include <stdlib.h>

void tree_add(struct tree *tree, struct tree_level level)
{
    if (tree->count == TREE_LEVELS) {
        fputs("a step states more levels of its tree than tree.h has "
              "room for.\n",
              stderr);
        abort();
    }
    tree->levels[tree->count++] = level;
}

void tree_run(struct tree *tree, size_t length, size_t additions)
{
    tree_add(tree, (struct tree_level){
                       .sums = SUMS_RUN, .length = length, .additions = (unsigned)additions});
    tree->joins += (double)additions - 1; /* of the part before an output */
}

static void add_half(struct tree *tree, size_t length)
{
    tree_add(tree, (struct tree_level){.sums = SUMS_RUN, .length = length, .additions = 1});
}

void tree_halves(struct tree *tree, size_t from, size_t to)
{
    for (size_t length = 2 * from; length <= to; length *= 2, tree->joins++) add_half(tree, length);
}

void tree_windows(struct tree *tree, size_t from, size_t to)
{
    for (size_t length = from; length < to; tree->joins++) {
        length *= 2;
        tree_add(tree, (struct tree_level){.sums = SUMS_WINDOW, .length = length});
    }
}

void tree_sweeps(struct tree *tree, size_t from, size_t to)
{
    for (size_t length = 2 * from; length <= to; length *= 2, tree->joins++) {
        tree_add(tree, (struct tree_level){.sums = SUMS_WINDOW, .length = length, .group = to});
        add_half(tree, length); /* of the last item, windows are segments */
    }
}

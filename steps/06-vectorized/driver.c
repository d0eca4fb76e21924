/* Step 6's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/levels.h"
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step06_scan;
size_t step06_workspace(size_t n, int variant);

/* At every level: three across the float4, and up the tree. At the topmost level: down the tree,
 * and one addition to the float4. And one for each uniform_add. */
static double step06_depth(size_t n, int variant)
{
    double levels = levels_above(n, B), sweep = 0;
    (void)variant;
    for (size_t d = TREE >> 1; d > 0; d >>= 1) sweep++;
    return (levels + 1) * (3 + sweep) + sweep + 1 + levels;
}

/* At each level (elements, block sums, sums of these …) a float4, and the tree over the float4 of a
 * block. The sum of all before a float4 is added to its scan, and uniform_add adds the sum of all
 * before the block. */
static void step06_tree(struct tree *tree, size_t n, int variant)
{
    (void)variant;
    for (size_t item = 1;; item *= B, tree->joins++) {
        tree_run(tree, 4 * item, 3);
        tree_halves(tree, 4 * item, B * item);
        tree->joins++;
        if (n <= item * B) return;
    }
}

/* The blocks read and write every element once. uniform_add does so once more. */
static double step06_words(size_t n, int variant)
{
    (void)variant;
    return levels_words(n, B);
}

const struct step step06 = {
    .number = 6,
    .name = "vectorized",
    .title = "Eight elements per thread, as two float4",
    .teaches = "sums in registers first: a quarter of the tree, and wide accesses to memory",
    .still_bad = "loops over a tree of fixed size: step 7",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .scan = step06_scan,
    .workspace = step06_workspace,
    .depth = step06_depth,
    .tree = step06_tree,
    .words = step06_words,
};

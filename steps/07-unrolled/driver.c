/* Step 7's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/levels.h"
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step07_scan;
size_t step07_workspace(size_t n, int variant);

/* At every level: three across the float4, and up the tree. At the topmost level: down the tree,
 * and one addition to the float4. And one for each uniform_add. */
static double step07_depth(size_t n, int variant)
{
    double levels = levels_above(n, B), sweep = 0;
    (void)variant;
    for (size_t d = TREE >> 1; d > 0; d >>= 1) sweep++;
    return (levels + 1) * (3 + sweep) + sweep + 1 + levels;
}

/* At each level (elements, block sums, sums of these …) a float4, and the tree over the float4 of a
 * block. The sum of all before a float4 is added to its scan, and uniform_add adds the sum of all
 * before the block. */
static void step07_tree(struct tree *tree, size_t n, int variant)
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
static double step07_words(size_t n, int variant)
{
    (void)variant;
    return levels_words(n, B);
}

const struct step step07 = {
    .number = 7,
    .name = "unrolled",
    .title = "Tree loops unrolled",
    .teaches = "a tree of fixed size needs no loops: its indices are constants",
    .still_bad =
        "19 barriers per block (step 9); every element is read and written twice (step 11)",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .scan = step07_scan,
    .workspace = step07_workspace,
    .depth = step07_depth,
    .tree = step07_tree,
    .words = step07_words,
};

/* Step 9's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/levels.h"
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step09_scan;
size_t step09_workspace(size_t n, int variant);

static const char *const variants[] = {[SHFL] = "shfl", [PREDICATE] = "predicate", NULL};

/* At every level: three across the float4, the warp's sweeps, and the sweeps over the totals. At
 * the topmost level: the sums of both are added, and the result to the float4. And one for each
 * uniform_add. */
static double step09_depth(size_t n, int variant)
{
    double levels = levels_above(n, B), sweeps = 0;
    (void)variant;
    for (size_t d = 1; d < WARP; d *= 2) sweeps++;
    return (levels + 1) * (3 + 2 * sweeps) + 2 + levels;
}

/* At each level (elements, block sums, sums of these …) a float4, the warp's sweeps, and the sweeps
 * over the totals. The sum of all before a float4 is made of both kinds of sweeps and added to its
 * scan. uniform_add adds the sum of all before the block. */
static void step09_tree(struct tree *tree, size_t n, int variant)
{
    (void)variant;
    for (size_t item = 1;; item *= B, tree->joins++) {
        tree_run(tree, 4 * item, 3);
        tree_sweeps(tree, 4 * item, 4 * WARP * item);
        tree_sweeps(tree, 4 * WARP * item, B * item);
        tree->joins += 2;
        if (n <= item * B) return;
    }
}

/* The blocks read and write every element once. uniform_add does so once more. */
static double step09_words(size_t n, int variant)
{
    (void)variant;
    return levels_words(n, B);
}

const struct step step09 = {
    .number = 9,
    .name = "warp-shuffle",
    .title = "Warp shuffles instead of the tree",
    .teaches = "lanes of a warp exchange values in registers: 2 barriers instead of 19",
    .still_bad = "the scan and uniform_add each read and write every element: step 11",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step09_scan,
    .workspace = step09_workspace,
    .depth = step09_depth,
    .tree = step09_tree,
    .words = step09_words,
};

/* Step 5's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/levels.h"
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"
#include "variants.h"

scan_fn step05_scan;
size_t step05_workspace(size_t n, int variant);

static const char *const variants[] = {[CONFLICT_FREE] = "conflict-free",
                                       [WORK_EFFICIENT] = "work-efficient",
                                       [NAIVE] = "naive",
                                       [REMAINDER] = "conflict-free-remainder",
                                       NULL};

/* Up the tree of every level, down the tree of the topmost level, and one addition for each
 * uniform_add. The naive variant has its sweeps in place of the trees, at every level. */
static double step05_depth(size_t n, int variant)
{
    double levels = levels_above(n, B), sweep = 0;
    for (size_t d = B >> 1; d > 0; d >>= 1) sweep++;
    if (variant == NAIVE) return (levels + 1) * sweep + 2 * levels;
    return (levels + 2) * sweep + levels;
}

/* At each level (elements, block sums, sums of these …) a block's tree or its sweeps. Below each
 * level but the first, uniform_add. A naive block adds the last element to its scan to get the sum
 * of the block. */
static void step05_tree(struct tree *tree, size_t n, int variant)
{
    for (size_t item = 1;; item *= B, tree->joins++) {
        if (variant == NAIVE) {
            tree_windows(tree, item, item * B);
            tree_run(tree, item * B, 1);
        } else {
            tree_halves(tree, item, item * B);
        }
        if (n <= item * B) return;
    }
}

/* The blocks read and write every element once. uniform_add does so once more. */
static double step05_words(size_t n, int variant)
{
    (void)variant;
    return levels_words(n, B);
}

const struct step step05 = {
    .number = 5,
    .name = "arbitrary-size",
    .title = "Scan of any size: block sums and uniform add",
    .teaches = "each block scans its part; a scan of the blocks' sums gives each block its start",
    .still_bad = "two elements per thread do not hide the latency of memory: step 6",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step05_scan,
    .workspace = step05_workspace,
    .depth = step05_depth,
    .tree = step05_tree,
    .words = step05_words,
};

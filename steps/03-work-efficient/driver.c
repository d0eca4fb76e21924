/* Step 3's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "common/step/tree.h"

scan_fn step03_scan;

/* One addition a level, up to the root and down again; the root's own sum is thrown away. */
static double step03_depth(size_t n, int variant)
{
    double levels = 0;
    (void)variant;
    for (size_t d = n >> 1; d > 0; d >>= 1) levels++;
    return levels > 0 ? 2 * levels - 1 : 0;
}

static void step03_tree(struct tree *tree, size_t n, int variant)
{
    (void)variant;
    tree_halves(tree, 1, n);
}

const struct step step03 = {
    .number = 3,
    .name = "work-efficient",
    .title = "Work-efficient scan (Blelloch)",
    .teaches = "a tree of sums, swept up and down: 2 (n - 1) additions",
    .still_bad = "the tree's strides cause bank conflicts in shared memory: step 4",
    .max_n = 2048, /* each thread takes two elements, and a block has at most 1024 threads */
    .power_of_two = true,
    .limit_lifted_by = "step 5 takes any n",
    .default_n = 512,
    .element = ELEMENT_F32,
    .scan = step03_scan,
    .depth = step03_depth,
    .tree = step03_tree,
};

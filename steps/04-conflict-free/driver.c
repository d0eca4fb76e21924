/* Step 4's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "common/step/tree.h"
#include "variants.h"

scan_fn step04_scan;

static const char *const variants[] = {
    [PAD32] = "pad32", [PAD16] = "pad16", [PAD32X2] = "pad32x2", NULL};

/* One addition a level, up to the root and down again; the root's own sum is thrown away. */
static double step04_depth(size_t n, int variant)
{
    double levels = 0;
    (void)variant;
    for (size_t d = n >> 1; d > 0; d >>= 1) levels++;
    return levels > 0 ? 2 * levels - 1 : 0;
}

static void step04_tree(struct tree *tree, size_t n, int variant)
{
    (void)variant;
    tree_halves(tree, 1, n);
}

const struct step step04 = {
    .number = 4,
    .name = "conflict-free",
    .title = "Work-efficient scan without bank conflicts",
    .teaches = "one float of padding after every 32 spreads the tree's strides over all banks",
    .still_bad =
        "one block only, and n a power of two: step 5 (pad16, and pad32 at 2048, still conflict)",
    .max_n = 2048, /* each thread takes two elements, and a block has at most 1024 threads */
    .power_of_two = true,
    .limit_lifted_by = "step 5 takes any n",
    .default_n = 512,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step04_scan,
    .depth = step04_depth,
    .tree = step04_tree,
};

/* Step 9's descriptor: what the harness needs to know about scan.cu. */
#include "common/harness/levels.h"
#include "common/harness/step.h"
#include "common/harness/verify/tree.h"
#include "scan.h"

scan_fn step09_scan;

static const char *const variants[] = {[SHFL] = "shfl", [PREDICATE] = "predicate", NULL};

static struct launch_shape step09_shape(size_t n, int variant)
{
    struct launch_shape shape = {.grid = levels_blocks(n, B),
                                 .block = THREADS,
                                 .shared_bytes = TOTALS * sizeof(float),
                                 .launches = 1};
    (void)variant;

    /* Each level launches the block scan, all but the topmost uniform_add. */
    shape.launches += 2 * levels_above(n, B);
    return shape;
}

/* The sums of all levels, one after the other; the topmost level, one block, has none. */
static size_t step09_workspace(size_t n, int variant)
{
    (void)variant;
    return levels_sums(n, B) * sizeof(float);
}

/* A warp's sweeps. Without the predicate nvcc lets all lanes add, and those that should not have
 * keep what they had. */
static double warp_adds(int variant)
{
    double adds = 0;
    for (size_t d = 1; d < WARP; d *= 2) adds += (double)(variant == PREDICATE ? WARP - d : WARP);
    return adds;
}

/* The warps' sweeps and those over their totals, and seven for each float4: three for its scan, one
 * for the warps before, three to add what lies before. Blocks that are filled up add the zeros, too,
 * in uniform_add as well. */
static double step09_adds(size_t n, int variant)
{
    return levels_adds(n, B, (TOTALS + 1) * warp_adds(variant) + 7.0 * 2 * THREADS);
}

/* At every level across the float4, the warp's sweeps and those over the totals; at the topmost the
 * addition of both and that to the float4, and one for each uniform_add. */
static double step09_depth(size_t n, int variant)
{
    double levels = levels_above(n, B), sweeps = 0;
    (void)variant;
    for (size_t d = 1; d < WARP; d *= 2) sweeps++;
    return (levels + 1) * (3 + 2 * sweeps) + 2 + levels;
}

/* A float4, the warp's sweeps, those over the totals; of elements, block sums, sums of these. What
 * lies before a float4 is the sum of both kinds of sweeps, and is added to its scan; uniform_add
 * adds what lies before the block. */
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

/* Blocks read and write every element, and so does uniform_add. */
static double step09_words(size_t n, int variant)
{
    (void)variant;
    return levels_words(n, B);
}

const struct step step09 = {
    .number = 9,
    .name = "warp-shuffle",
    .title = "Warp shuffles in place of the tree",
    .teaches = "lanes of a warp hand each other values in registers: two barriers in place of 19",
    .still_bad = "every element goes to memory twice, for the scan and for uniform_add: step 11",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step09_scan,
    .shape = step09_shape,
    .workspace = step09_workspace,
    .adds = step09_adds,
    .depth = step09_depth,
    .tree = step09_tree,
    .words = step09_words,
};

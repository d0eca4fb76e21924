/* Step 10's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step10_scan;
size_t step10_workspace(size_t n, int variant);

static const char *const variants[] = {[BACKWARD] = "backward", [FORWARD] = "forward", NULL};

/* Levels of a warp: the sweeps of its scan, and the steps of its sum. */
static double sweeps(void)
{
    double count = 0;
    for (size_t d = 1; d < WARP; d *= 2) count++;
    return count;
}

/* Tiles of the longest range, which is the first block's. */
static size_t longest_range(size_t n)
{
    unsigned blocks = step10_blocks(n);
    return blocks > 0 ? (tiles_of(n) + blocks - 1) / blocks : 0;
}

/* Within a tile: across the float4, the warp's sweeps, the sweeps over the totals, and the
 * additions that join all three. From one range to a later one: through the sums of the tiles, of
 * the block and of the blocks before; then from tile to tile. */
static double step10_depth(size_t n, int variant)
{
    double tiles = (double)longest_range(n), blocks = step10_blocks(n);
    (void)variant;
    if (blocks <= 1) return 3 + 2 * sweeps() + tiles + 2;
    return (3 + tiles + 2 * sweeps()) + (blocks / THREADS + 1 + 2 * sweeps()) + tiles + 3;
}

/*
 * The scan of a tile is that of step 9: a float4, the warp's sweeps, and the sweeps over the
 * totals. For the sum of a range, each thread adds every 256th float4, and then the block adds the
 * threads' sums. The sums of the ranges are added in the same way. The carry passes through the
 * tiles of a range. The sum of all before the warp, of all before the float4 and the element are
 * added to it.
 */
static void step10_tree(struct tree *tree, size_t n, int variant)
{
    unsigned blocks = step10_blocks(n);
    size_t tiles = blocks ? tiles_of(n) / blocks : tiles_of(n);
    struct tree_level range = {.sums = SUMS_STRIDED,
                               .length = tiles * B,
                               .vector = 4,
                               .ways = THREADS,
                               .far = true,
                               .longer = blocks ? tiles_of(n) % blocks : 0,
                               .extra = B};
    struct tree_level ranges = range;
    (void)variant;
    ranges.sums = SUMS_CARRY;
    tree_run(tree, 4, 3);
    tree_sweeps(tree, 4, 4 * WARP);
    tree_sweeps(tree, 4 * WARP, B);
    tree_add(tree, range);
    tree_add(tree, ranges);
    tree->joins += (double)longest_range(n) + 3;
}

/* Every element is read for the sums, and once more for the scan, which writes it. */
static double step10_words(size_t n, int variant)
{
    (void)variant;
    return 3.0 * (double)n;
}

const struct step step10 = {
    .number = 10,
    .name = "cooperative",
    .title = "Cooperative groups: reduce, wait, scan in one launch",
    .teaches = "blocks that are all resident may wait for each other: one launch, 3n words",
    .still_bad = "every element is read twice, for the sums and for the scan: step 11",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step10_scan,
    .workspace = step10_workspace,
    .depth = step10_depth,
    .tree = step10_tree,
    .words = step10_words,
};

/* Step 8's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step08_scan;
size_t step08_workspace(size_t n, int variant);

static const char *const variants[] = {
    [HYBRID] = "hybrid", [TREE] = "tree", [NAIVE] = "naive", NULL};

/* The reduce steps of a scan of n elements, and in *left how many elements the last one leaves. */
static unsigned reduce_steps(size_t n, int variant, size_t *left)
{
    unsigned steps = 0;
    *left = n;
    do *left = pairs_of(*left), steps++;
    while (*left > most_left(n, variant));
    return steps;
}

/* Sweeps of the double-buffered scan; there is one at least, for the shift. */
static unsigned sweeps(size_t n)
{
    unsigned count = 0;
    size_t offset = 1;
    do offset *= 2, count++;
    while (offset + 1 < n);
    return count;
}

static double step08_depth(size_t n, int variant)
{
    size_t left;
    unsigned steps = reduce_steps(n, variant, &left);
    return 2.0 * steps + sweeps(left);
}

/* A reduce step of m elements reads m and writes m / 2. The down-sweep step that leads back reads
 * the m elements and m / 2 sums, and writes m. A sweep reads two elements for each one that it
 * writes. */
static double step08_words(size_t n, int variant)
{
    size_t left = n, most = most_left(n, variant);
    double words = 0;
    do {
        words += 4 * (double)left;
        left = pairs_of(left);
    } while (left > most);
    return words + 3 * (double)left * sweeps(left);
}

/* The reduce steps' pairs, and the sweeps over what they leave. */
static void step08_tree(struct tree *tree, size_t n, int variant)
{
    size_t left, item = (size_t)1 << reduce_steps(n, variant, &left);
    tree_halves(tree, 1, item);
    tree_windows(tree, item, n);
}

const struct step step08 = {
    .number = 8,
    .name = "off-chip",
    .title = "Scan through device memory, as OpenGL had to",
    .teaches = "without shared memory every level of the tree goes through device memory",
    .still_bad = "8n words move or more, in dozens of launches; step 9 continues from step 7",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step08_scan,
    .workspace = step08_workspace,
    .depth = step08_depth,
    .words = step08_words,
    .tree = step08_tree,
};

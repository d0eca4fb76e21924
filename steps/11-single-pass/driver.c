/* Step 11's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "common/step/tree.h"
#include "scan.h"

scan_fn step11_scan;
size_t step11_workspace(size_t n, int variant);

static const char *const variants[] = {
    [TILE_2048] = "tile2048", [TILE_4096] = "tile4096", [TILE_8192] = "tile8192", NULL};

static size_t tiles_for(size_t n, int variant)
{
    size_t tile = TILE((size_t)VECTORS(variant));
    return n / tile + (n % tile != 0);
}

/*
 * Whatever states a tile finds when it looks back, each tile before it is in the sum once. So an
 * element passes through at most one addition for each tile but one; it does so when every tile
 * finds the prefix of the tile before. (Additions of 0 do not round.) Before these come three
 * additions across the float4, five in the warp, and five and one more for each 32 totals. After
 * them come three.
 */
static double step11_depth(size_t n, int variant)
{
    double tiles = (double)tiles_for(n, variant);
    double passes = TOTALS(VECTORS(variant)) <= WARP ? 1 : TOTALS(VECTORS(variant)) / WARP;
    return 3 + 5 + 5 + passes + (tiles - 1) + 3;
}

/*
 * A float4, the warp's sweeps, the sweeps over 32 totals at a time, and the sum of the totals
 * before these 32. Tiles are added up in an order that timing decides, 32 of them in the lanes of
 * a warp. The sums of all before the tile, the totals, the warp and the float4 are added one to
 * the other.
 */
static void step11_tree(struct tree *tree, size_t n, int variant)
{
    size_t tile = TILE((size_t)VECTORS(variant)), warp = 4 * WARP, pass = WARP * warp;
    (void)n;
    tree_run(tree, 4, 3);
    tree_sweeps(tree, 4, warp);
    tree_sweeps(tree, warp, tile < pass ? tile : pass);
    if (tile > pass) tree_run(tree, tile, tile / pass - 1);
    tree_add(tree, (struct tree_level){.sums = SUMS_ANY_ORDER, .length = tile, .lanes = WARP});
    tree->joins += 4;
}

/* Every element is read once and written once. */
static double step11_words(size_t n, int variant)
{
    (void)variant;
    return 2.0 * (double)n;
}

const struct step step11 = {
    .number = 11,
    .name = "single-pass",
    .title = "Single pass: chained scan with decoupled look-back",
    .teaches = "each block gets its start from earlier blocks: one read, one write per element",
    .still_bad = "tiles wait for the sums before them, and floats differ from run to run: step 12",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step11_scan,
    .workspace = step11_workspace,
    .depth = step11_depth,
    .tree = step11_tree,
    .words = step11_words,
};

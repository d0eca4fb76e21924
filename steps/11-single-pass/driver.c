/* Step 11's descriptor: what the harness needs to know about scan.cu. */
#include "common/harness/step.h"
#include "common/harness/verify/tree.h"
#include "scan.h"

scan_fn step11_scan;

static const char *const variants[] = {
    [TILE_2048] = "tile2048", [TILE_4096] = "tile4096", [TILE_8192] = "tile8192", NULL};

static size_t tiles_for(size_t n, int variant)
{
    size_t tile = TILE((size_t)VECTORS(variant));
    return n / tile + (n % tile != 0);
}

static struct launch_shape step11_shape(size_t n, int variant)
{
    /* Static shared memory: the totals, the ticket, the prefix. */
    size_t shared = ((size_t)TOTALS(VECTORS(variant)) + 2) * sizeof(float);
    return (struct launch_shape){
        .grid = tiles_for(n, variant), .block = THREADS, .shared_bytes = shared, .launches = 1};
}

/* A state of 64 bits for each tile, and a word of the same size for the ticket. */
static size_t step11_workspace(size_t n, int variant)
{
    return (tiles_for(n, variant) + 1) * sizeof(uint64_t);
}

/*
 * The least: a tile that looks at more than 32 states adds once more for each 32. A warp's scan or
 * sum adds in all lanes five times. Of a tile those of its float4 and of the totals, two for each
 * lane of these; three for each float4 to scan it, two for the tiles and warps before, three to add
 * what lies before; and of all tiles but the first one look back and the sum of both, in all lanes.
 */
static double step11_adds(size_t n, int variant)
{
    double tiles = (double)tiles_for(n, variant), vectors = VECTORS(variant);
    double sweeps = 5 * WARP, passes = vectors * THREADS / WARP <= WARP ? 1 : vectors / 4;
    double a_tile = (vectors * THREADS / WARP + passes) * sweeps + passes * WARP +
                    vectors * THREADS / WARP + 8 * vectors * THREADS;
    return tiles * (a_tile + 1) + (tiles - 1) * (sweeps + WARP);
}

/*
 * Whatever a tile has found when it looked back, the sum of all tiles up to the last is one of as
 * many sums, each in it once. So an element passes at most an addition for each tile but one: when
 * every tile finds the prefix of the tile before. (Additions of 0 do not round.) Before them three
 * across the float4, five in the warp, five and one for each 32 in the totals; after them three.
 */
static double step11_depth(size_t n, int variant)
{
    double tiles = (double)tiles_for(n, variant);
    double passes = TOTALS(VECTORS(variant)) <= WARP ? 1 : TOTALS(VECTORS(variant)) / WARP;
    return 3 + 5 + 5 + passes + (tiles - 1) + 3;
}

/*
 * A float4, the warp's sweeps, those over 32 totals at a time, and from one such time to the next.
 * Tiles come together as chance has it, 32 in the lanes of a warp. What lies before the tile, the
 * totals, the warp and the float4 is added one to the other.
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
    .teaches = "blocks learn from those before them where they start: all is read and written once",
    .still_bad = "what lies before a tile comes late, and floats differ from run to run: step 12",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step11_scan,
    .shape = step11_shape,
    .workspace = step11_workspace,
    .adds = step11_adds,
    .depth = step11_depth,
    .tree = step11_tree,
    .words = step11_words,
};

/* Step 11's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step11_scan;
size_t step11_workspace(size_t n, int variant);

static const char *const variants[] = {
    [TILE_2048] = "tile2048", [TILE_4096] = "tile4096", [TILE_8192] = "tile8192", NULL};

/* Each tile before one is in its sum once, in whatever order: through one addition for each tile
 * but one. Before these come three across the float4, five in the warp, five and one more for each
 * 32 totals. After them come three. */
static double step11_depth(size_t n, int variant)
{
    size_t tile = TILE((size_t)VECTORS(variant)), totals = TOTALS((size_t)VECTORS(variant));
    double tiles = (double)((n + tile - 1) / tile);
    return 3 + 5 + 5 + (double)((totals + WARP - 1) / WARP) + (tiles - 1) + 3;
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
    .any_order = true,
};

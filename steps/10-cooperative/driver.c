/* Step 10's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step10_scan;
size_t step10_workspace(size_t n, int variant);

static const char *const variants[] = {[BACKWARD] = "backward", [FORWARD] = "forward", NULL};

/* From tile to tile of a range, for its sum and for its scan; through the blocks' sums; and within
 * a tile, a warp and a float4. */
static double step10_depth(size_t n, int variant)
{
    double blocks = step10_blocks(n), tiles = blocks > 0 ? (double)tiles_of(n) / blocks + 1 : 0;
    (void)variant;
    return 2 * tiles + blocks / THREADS + 27;
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
    .any_order = true,
};

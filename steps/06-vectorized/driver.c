/* Step 6's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step06_scan;
size_t step06_workspace(size_t n, int variant);

const struct step step06 = {
    .number = 6,
    .name = "vectorized",
    .title = "Eight elements per thread, as two float4",
    .teaches = "sums in registers first: a quarter of the tree, and wide accesses to memory",
    .still_bad = "loops over a tree of fixed size: step 7",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .scan = step06_scan,
    .workspace = step06_workspace,
    .depth = step_tree_depth,
};

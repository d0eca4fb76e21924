/* Step 9's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step09_scan;
size_t step09_workspace(size_t n, int variant);

static const char *const variants[] = {[SHFL] = "shfl", [PREDICATE] = "predicate", NULL};

const struct step step09 = {
    .number = 9,
    .name = "warp-shuffle",
    .title = "Warp shuffles instead of the tree",
    .teaches = "lanes of a warp exchange values in registers: 2 barriers instead of 19",
    .still_bad = "the scan and uniform_add each read and write every element: step 11",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step09_scan,
    .workspace = step09_workspace,
    .depth = step_tree_depth,
};

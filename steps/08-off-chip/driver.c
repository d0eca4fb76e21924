/* Step 8's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step08_scan;
size_t step08_workspace(size_t n, int variant);

static const char *const variants[] = {
    [HYBRID] = "hybrid", [TREE] = "tree", [NAIVE] = "naive", NULL};

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
    .depth = step_tree_depth,
};

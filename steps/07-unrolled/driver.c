/* Step 7's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step07_scan;
size_t step07_workspace(size_t n, int variant);

const struct step step07 = {
    .number = 7,
    .name = "unrolled",
    .title = "Tree loops unrolled",
    .teaches = "a tree of fixed size needs no loops: its indices are constants",
    .still_bad =
        "19 barriers per block (step 9); every element is read and written twice (step 11)",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .scan = step07_scan,
    .workspace = step07_workspace,
    .depth = step_tree_depth,
};

/* Step 2's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"

scan_fn step02_scan;

const struct step step02 = {
    .number = 2,
    .name = "naive",
    .title = "Naive parallel scan (Hillis and Steele)",
    .teaches = "in log2 n sweeps, each element adds the one 1, 2, 4 … places to its left",
    .still_bad = "n log2 n - (n - 1) additions instead of n - 1: step 3",
    .max_n = 1024, /* one thread an element, and a block has no more threads */
    .limit_lifted_by = "step 5 takes any n",
    .default_n = 512,
    .element = ELEMENT_F32,
    .scan = step02_scan,
    .depth = step_tree_depth,
};

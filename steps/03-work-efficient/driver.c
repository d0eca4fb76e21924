/* Step 3's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"

scan_fn step03_scan;

const struct step step03 = {
    .number = 3,
    .name = "work-efficient",
    .title = "Work-efficient scan (Blelloch)",
    .teaches = "a tree of sums, swept up and down: 2 (n - 1) additions",
    .still_bad = "the tree's strides cause bank conflicts in shared memory: step 4",
    .max_n = 2048, /* each thread takes two elements, and a block has at most 1024 threads */
    .power_of_two = true,
    .limit_lifted_by = "step 5 takes any n",
    .default_n = 512,
    .element = ELEMENT_F32,
    .scan = step03_scan,
    .depth = step_tree_depth,
};

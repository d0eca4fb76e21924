/* Step 4's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "variants.h"

scan_fn step04_scan;

static const char *const variants[] = {
    [PAD32] = "pad32", [PAD16] = "pad16", [PAD32X2] = "pad32x2", NULL};

const struct step step04 = {
    .number = 4,
    .name = "conflict-free",
    .title = "Work-efficient scan without bank conflicts",
    .teaches = "one float of padding after every 32 spreads the tree's strides over all banks",
    .still_bad =
        "one block only, and n a power of two: step 5 (pad16, and pad32 at 2048, still conflict)",
    .max_n = 2048, /* each thread takes two elements, and a block has at most 1024 threads */
    .power_of_two = true,
    .limit_lifted_by = "step 5 takes any n",
    .default_n = 512,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step04_scan,
    .depth = step_tree_depth,
};

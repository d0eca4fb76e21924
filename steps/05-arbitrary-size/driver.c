/* Step 5's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "scan.h"
#include "variants.h"

scan_fn step05_scan;
size_t step05_workspace(size_t n, int variant);

static const char *const variants[] = {[CONFLICT_FREE] = "conflict-free",
                                       [WORK_EFFICIENT] = "work-efficient",
                                       [NAIVE] = "naive",
                                       [REMAINDER] = "conflict-free-remainder",
                                       NULL};

const struct step step05 = {
    .number = 5,
    .name = "arbitrary-size",
    .title = "Scan of any size: block sums and uniform add",
    .teaches = "each block scans its part; a scan of the blocks' sums gives each block its start",
    .still_bad = "many instructions per element, and few bytes in flight: step 6",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step05_scan,
    .workspace = step05_workspace,
    .depth = step_tree_depth,
};

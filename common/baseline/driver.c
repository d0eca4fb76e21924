/* The descriptor of CUB's scan, for the harness: see cub.cu. */
#include "common/step.h"

scan_fn cub_scan;
size_t cub_workspace(size_t n, int variant);

/* How CUB divides the work is its own affair; it launches twice. */
static struct launch_shape cub_shape(size_t n, int variant)
{
    (void)n, (void)variant;
    return (struct launch_shape){.launches = 2};
}

/* It adds in an order that differs from run to run; no order is deeper than one after the other. */
static double cub_depth(size_t n, int variant)
{
    (void)variant;
    return (double)n;
}

const struct step cub = {
    .program = "cub",
    .name = "cub",
    .title = "CUB's DeviceScan",
    .teaches = "the library to be compared with: one pass, decoupled look-back",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .scan = cub_scan,
    .shape = cub_shape,
    .workspace = cub_workspace,
    .depth = cub_depth,
};

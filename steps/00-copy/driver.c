/* Step 0's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "run.h"

scan_fn step00_scan;

/* In the order of enum pattern. */
static const char *const variants[] = {
    "all",        "scalar",         "float2",               "float4",           "strided",
    "misaligned", "permuted",       "scattered",            "same-word",        "structures",
    "structures-soa", "structures-read-only", "structures-staged", NULL};

const struct step step00 = {
    .number = 0,
    .name = "copy",
    .title = "Copying, in good and bad access patterns",
    .teaches = "memory moves in sectors of 32 bytes; a warp's addresses decide how many",
    .still_bad = "no element is added: the scans are steps 1 to 12",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step00_scan,
    .depth = step00_depth,
    .run = step00_run,
    .reference = step00_reference,
};

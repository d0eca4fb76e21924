/* Step 0's descriptor: what the harness needs to know about scan.cu. */
#include "common/step/step.h"
#include "patterns.h"
#include "run.h"

scan_fn step00_scan;

static const char *const variants[] = {[ALL] = "all",
                                       [SCALAR] = "scalar",
                                       [FLOAT2] = "float2",
                                       [FLOAT4] = "float4",
                                       [STRIDED] = "strided",
                                       [MISALIGNED] = "misaligned",
                                       [PERMUTED] = "permuted",
                                       [SCATTERED] = "scattered",
                                       [SAME_WORD] = "same-word",
                                       [STRUCTURES] = "structures",
                                       [STRUCTURES_SOA] = "structures-soa",
                                       [STRUCTURES_READ_ONLY] = "structures-read-only",
                                       [STRUCTURES_STAGED] = "structures-staged",
                                       NULL};

/* A copy adds nothing. */
static double step00_depth(size_t n, int variant)
{
    (void)n, (void)variant;
    return 0;
}

static void step00_reference(double *want, const void *in, size_t n, int variant)
{
    for (size_t i = 0; i < n; i++)
        want[i] = ((const float *)in)[pattern_source((enum pattern)variant, i, n)];
}

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

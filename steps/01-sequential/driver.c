/* Step 1's descriptor: what the harness needs to know about scan.c. */
#include "common/step/step.h"
#include "scan.h"

scan_fn step01_scan;

static const char *const variants[] = {"exclusive", "inclusive", "loop", "two-pass", NULL};

/* The variants are not all exclusive sums of the input, so the step has a reference of its own: the
 * same sums in double. */
static void step01_reference(double *want, const void *in, size_t n, int variant)
{
    const float *x = in;
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double next = sum + (variant == LOOP || variant == TWO_PASS ? f(x[j]) : x[j]);
        want[j] = variant == INCLUSIVE ? next : sum;
        sum = next;
    }
}

const struct step step01 = {
    .number = 1,
    .name = "sequential",
    .title = "Sequential scan, on the CPU",
    .teaches = "the baseline to match: n - 1 additions, one after the other",
    .still_bad = "each addition waits for the one before: step 2",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .on_host = true,
    .variants = variants,
    .scan = step01_scan,
    .reference = step01_reference,
};

/*
 * Step 1: the sequential scan, in C on the CPU.
 *
 * What it is: the baseline for all later steps, a loop ("Sequential Scan" in Harris 2007,
 * section 39.1.1 of GPU Gems 3), exclusive and inclusive; and the documents' reason to care: a loop
 * whose iterations seem to need each other, turned into a map and a scan (Harris' Figure 1, Table
 * 39-1).
 * What is still bad: every addition waits for the one before, so only one of them is ever under way
 * (step 2).
 * How to run it: make step1 && ./step1 --variant inclusive; its tests: make test-step1
 */
#include "common/step/step.h"
#include "scan.h"

/*
 * n - 1 additions. All but the first, which adds to 0, are needed. (The documents say n, and in
 * Harris' Figure 1 and GPU Gems the loop writes one element past the end: j runs up to n.) `before`
 * is in[j-1]; in a variable of its own because out may be in, where out[j-1] has replaced it.
 */
static void scan_exclusive(float *out, const float *in, size_t n)
{
    float before = in[0];

    out[0] = 0;
    for (size_t j = 1; j < n; j++) {
        float here = in[j];
        out[j] = out[j - 1] + before;
        before = here;
    }
}

/* Also n - 1 additions. */
static void scan_inclusive(float *out, const float *in, size_t n)
{
    out[0] = in[0];
    for (size_t j = 1; j < n; j++) out[j] = out[j - 1] + in[j];
}

/* The left side of Figure 1: a loop whose every turn needs the result of the last. */
static void scan_loop(float *out, const float *in, size_t n)
{
    float before = in[0];

    out[0] = 0;
    for (size_t j = 1; j < n; j++) {
        float here = in[j];
        out[j] = out[j - 1] + f(before);
        before = here;
    }
}

/* The right side: f of each element by itself, which any number of processors can share, and a
 * scan, which they can share too, as the next steps show. temp of Figure 1 is `out` here. */
static void scan_two_pass(float *out, const float *in, size_t n)
{
    for (size_t j = 0; j < n; j++) out[j] = f(in[j]);
    scan_exclusive(out, out, n);
}

scan_fn step01_scan;

cudaError_t step01_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    (void)workspace, (void)stream;
    if (n == 0) return cudaSuccess;

    switch (variant) {
    case EXCLUSIVE: scan_exclusive(out, in, n); return cudaSuccess;
    case INCLUSIVE: scan_inclusive(out, in, n); return cudaSuccess;
    case LOOP: scan_loop(out, in, n); return cudaSuccess;
    case TWO_PASS: scan_two_pass(out, in, n); return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

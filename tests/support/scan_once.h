/*
 * scan_once.h — for tests of the steps: one scan in guarded buffers, and whether it was right.
 */
#ifndef SCAN_ONCE_H
#define SCAN_ONCE_H

#include "common/step/step.h"
#include "common/harness/run/runs.h"

/* Step 0 copies; the others scan. */
extern const struct step step00, step01, step02, step03, step04, step05, step06, step07, step08,
    step09, step10, step11, step12;
enum { SCAN_STEPS = 12 };
extern const struct step *const scan_steps[SCAN_STEPS];

/* The step of scan_steps with this number. Fails the test if there is no such step. */
const struct step *scan_step(int number);

/* One scan: of n elements with step and variant, from and to buffers `offset` elements off their
 * alignment, in place or not. */
struct scan {
    const struct step *step;
    int variant;
    size_t n;
    size_t offset;
    bool in_place;
};

/* The number of a step's variants, at least 1, and the name of one ("" without variants). */
int variant_count(const struct step *);
const char *variant_name(const struct step *, int variant);

/*
 * Runs it on the n elements of `in` and copies the sums to `out`, both of the variant's type
 * (floats, but for some variants of step 12). Fails the test if the scan writes outside of its
 * buffers, to its input (unless in place), or beyond its workspace. Returns the scan's error, or
 * that of the work it has launched.
 */
cudaError_t scan_once(const struct scan *, const void *in, void *out);

/* Runs a step on random numbers as ./stepN does; the caller frees the outcome. */
struct outcome run_in_harness(const struct step *, const struct options *, bool emulated);

/* verify.h's verdict on `out`, with the bound of the step's depth. */
struct verdict scan_verdict(const struct scan *, const void *in, const void *out);

/* Runs it on `in` and fails the test unless verify.h calls the result right. */
struct verdict expect_right(const struct scan *, const void *in);
/* The same where nobody knows of the numbers in which orders their sums are exact. */
struct verdict expect_right_from_file(const struct scan *, const void *in);

/* n random numbers, which are valid until the next call: integers with exact sums, or real ones. */
const float *random_floats(size_t n, bool real);

/* The same, of the type that the variant takes; integers where that has no real numbers. */
const void *random_input(const struct step *, int variant, size_t n, bool real);

#endif

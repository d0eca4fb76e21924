/*
 * reference.h — what step 14 has to give, computed on the CPU in 64 bits.
 */
#ifndef STEP14_REFERENCE_H
#define STEP14_REFERENCE_H

#include "common/step/element.h"
#include "steps/14-summed-area-table/sat.h"
#include "steps/14-summed-area-table/step14.h"

#ifdef __cplusplus
extern "C" {
#endif

/* table[(y * width + x) * channels + c], exact. The pixels are of ELEMENT_I8 or ELEMENT_I16,
 * without a sign. */
void sat_reference_table(uint64_t *table, const void *pixels, enum element, struct sat_size);

/* The table of floats, in double, and that of their magnitudes. */
void sat_reference_floats(double *table, double *magnitudes, const float *pixels, struct sat_size);

/* What filters take: one width for all pixels, or one for each. */
struct window {
    size_t width;       /* where there are no depths */
    const void *depths; /* of the type of the pixels; NULL: none */
    struct sat_focus focus;
};

/* The sum over a pixel's window, and its number of pixels. */
struct mean {
    uint64_t sum, pixels;
};
struct mean sat_reference_mean(const uint64_t *table, enum element, struct sat_size, struct window,
                               size_t x, size_t y, unsigned channel);

/* The entries at the corners of that window, added up: what the errors of a rounded table add up to
 * grows with this. */
double sat_reference_corners(const uint64_t *table, enum element, struct sat_size, struct window,
                             size_t x, size_t y, unsigned channel);

#ifdef __cplusplus
}
#endif

#endif

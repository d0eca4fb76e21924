/*
 * judge.h — is a result of step 14 right? Its table, and behind it the filtered picture if there is
 * one.
 */
#ifndef STEP14_JUDGE_H
#define STEP14_JUDGE_H

#include "common/harness/verify/verify.h"
#include "common/step/element.h"
#include "sat.h"
#include "step14.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The place of an entry in a variant's table. */
static inline size_t judge_place(enum variant variant, struct sat_size size, size_t x, size_t y,
                                 unsigned channel)
{
    if (variant == FAST) return (y * size.width + x) * size.channels + channel;
    return (x * size.height + y) * sat_document_channels(size.channels) + channel;
}

/* Entries of a variant's table. */
static inline size_t judge_entries(enum variant variant, struct sat_size size)
{
    unsigned channels = variant == FAST ? size.channels : sat_document_channels(size.channels);
    return size.width * size.height * channels;
}

/* What filters take: one width for all pixels, or one for each. */
struct window {
    size_t width;       /* where there are no depths */
    const void *depths; /* of the type of the pixels; NULL: none */
    struct sat_focus focus;
};

/* A result, and what it was made of. */
struct judged {
    enum variant variant;
    struct sat_size size;
    enum element element;
    const void *pixels;
    const void *table;
    const void *picture;  /* NULL: not filtered */
    struct window window; /* how it was */
    unsigned maximum;
};

/* How far an entry of a variant's table of floats may be from its sum, as a part of the sum of the
 * magnitudes of its pixels. */
double judge_relative_error(enum variant, struct sat_size);

/* Fills the verdict. Returns 0, or EXIT_USAGE if memory does not suffice. */
void sat_judge(struct verdict *, const struct judged *);

/* ---- the reference, in 64 bits --------------------------------------------------------------- */

/* table[(y * width + x) * channels + c], exact. The pixels are of ELEMENT_I8 or ELEMENT_I16,
 * without a sign. */
void sat_reference_table(uint64_t *table, const void *pixels, enum element, struct sat_size);

/* The table of floats, in double, and that of their magnitudes. */
void sat_reference_floats(double *table, double *magnitudes, const float *pixels, struct sat_size);

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

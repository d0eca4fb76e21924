/*
 * judge.h — is a result of step 14 right? Its table, and behind it the filtered picture if there is
 * one.
 */
#ifndef STEP14_JUDGE_H
#define STEP14_JUDGE_H

#include "common/harness/verify/verify.h"
#include "reference.h"

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

#ifdef __cplusplus
}
#endif

#endif

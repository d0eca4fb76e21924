/*
 * request.h — what the user asked step 14 for: its own options, and its input.
 */
#ifndef STEP14_REQUEST_H
#define STEP14_REQUEST_H

#include "common/files/fault.h"
#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include "sat.h"
#include "step14.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- is a result right? ---------------------------------------------------------------------- */

/*
 * Is a result of step 14 right? Its table, and behind it the filtered picture if there is
 * one.
 */

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

/* ---- what was asked for ---------------------------------------------------------------------- */

enum filter { FILTER_NONE, FILTER_BOX, FILTER_DEPTH };

struct request {
    size_t width, height; /* --size, of a random picture; 0: --n decides */
    unsigned channels;    /* --channels of a random picture; 0: not given, 1 */
    unsigned bits;        /* --bits of its samples; 0: not given, 8 */
    const char *sum;      /* --sum; NULL: the table is not written */
    const char *depth;    /* --depth; NULL: none */
    double focus;         /* --focus, a fraction of the depth map's white */
    bool focused;         /* --focus was given */
    size_t max_width;     /* --max-width; 0: not given */
    size_t box;           /* --box; 0: none */

    /* What sat_request_input() makes of these and of the files. */
    enum variant variant; /* --variant */
    enum filter filter;
    struct sat_size size;
    enum element element; /* ELEMENT_I8, ELEMENT_I16: unsigned samples; ELEMENT_F32 */
    unsigned maximum;     /* of the samples, as the file says */
    struct sat_focus blur;
};

extern const struct step_option sat_request_options[];

static inline size_t request_samples(const struct request *r)
{
    return r->size.width * r->size.height * r->size.channels;
}

/* request.c: do the options go together, and the files? Returns 0 or EXIT_USAGE. */
int sat_request_check(const struct request *, const struct options *, struct fault *);

/* What can only be checked once the picture is known: which filter it is, its width, and the
 * output's format. Returns 0 or EXIT_USAGE. */
int sat_request_check_filter(struct request *, const struct options *, struct fault *);

/* request.c: the verbs of the same names (step.h). The input is the picture, and behind it
 * the depth map if there is one, whose samples are scaled to all of the picture's range. */
int sat_request_plan(const struct subject *, struct input *, struct fault *);
int sat_request_input(const struct subject *, struct input *, struct fault *);

/* The input in a line. */
void sat_request_about(const struct request *, char *text, size_t size, const struct options *);

/* ---- a table as a .npy file ------------------------------------------------------------------ */

/*
 * Writes a table (height x width, or height x width x channels) in the order of the picture:
 * uint32, or uint64 if a sum of `pixels` reaches 2^32, or float32 for tables of floats. The fast
 * variant's table is modulo 2^32; what is lost is found again, since sums of single rows, or of
 * single columns, are below 2^32. Returns 0 or EXIT_USAGE; after that there is no file.
 */
int table_file_write(const char *path, enum variant, const void *table, const void *pixels,
                     enum element, struct sat_size, struct fault *);

#ifdef __cplusplus
}
#endif

#endif

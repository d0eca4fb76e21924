/*
 * request.h — what the user asked step 14 for: its own options, and its input.
 */
#ifndef STEP14_REQUEST_H
#define STEP14_REQUEST_H

#include "common/command/fault.h"
#include "common/harness/input/input.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include "judge.h"
#include "step14.h"

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

#endif

/*
 * request.h — what the user asks step 15 for, and the host's part of it: reading keys, the
 * reference that the result is compared with, and lines of a text file.
 */
#ifndef STEP15_REQUEST_H
#define STEP15_REQUEST_H

#include "common/step/application.h"
#include "common/harness/print/output.h"

/* The options of the step's own, as --help has them. */
struct sort_request {
    bool typed;           /* --type */
    enum element element; /* of the keys */
    bool pairs;           /* --pairs, or --lines: the values are the keys' indices */
    bool descending;
    bool lines;         /* --lines: keys are the first 8 bytes of lines */
    const char *values; /* --values: a file; NULL: none */
};
extern struct sort_request sort_request;
extern const struct step_option sort_options[];

/* ---- reference.c ----------------------------------------------------------------------------- */

/* application.verify: every key and value against a sort on the CPU. */
int sort_verify(struct verdict *, const struct problem *, const struct options *, const void *out,
                struct fault *);

/* ---- lines.c --------------------------------------------------------------------------------- */

/* The lines of a file ("-": stdin); their first 8 bytes, the first one uppermost, become the input:
 * uint64, with zeros after a shorter line. Returns 0, or EXIT_USAGE and a sentence. */
int sort_lines_read(struct input *, const char *path, struct fault *);

/* Writes the lines in the order of `index` (n of them), those with equal keys sorted on the host by
 * all of their bytes. */
int sort_lines_write(const struct options *, const uint32_t *index, size_t n, struct fault *);

#endif

/*
 * request.h — what the user asks step 15 for, and the host's part of it: reading keys, the
 * reference that the result is compared with, and lines of a text file.
 */
#ifndef STEP15_REQUEST_H
#define STEP15_REQUEST_H

#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"

/* A text file, and its lines. All zero: none has been read. */
struct text_lines {
    char *bytes;
    size_t length;
    struct line {
        const char *text; /* without the '\n' */
        size_t length;
    } * line;
};

struct request {
    bool typed;           /* --type */
    enum element element; /* of the keys */
    bool pairs;           /* --pairs: the values are the keys' indices */
    bool descending;
    bool lines;         /* --lines: keys are the first 8 bytes of lines */
    const char *values; /* --values: a file; NULL: none */
    struct text_lines text;   /* with --lines */
};
extern const struct step_option sort_options[];

/* Does a value, its index, go with each key? */
static inline bool request_has_values(const struct request *r) { return r->pairs || r->lines; }

/* ---- reference.c ----------------------------------------------------------------------------- */

/* Judges every key and value of `out` by a sort on the CPU. */
void sort_judge(const struct request *, const struct problem *, const void *out,
                struct verdict *);

/* ---- lines.c --------------------------------------------------------------------------------- */

/* The lines of a file ("-": stdin); their first 8 bytes, the first one uppermost, become the input:
 * uint64, with zeros after a shorter line. Returns 0, or EXIT_USAGE and a sentence. */
int sort_text_read(struct text_lines *, struct input *, const char *path, struct fault *);
void sort_text_free(struct text_lines *);

/* Writes the lines in the order of `index` (n of them), those with equal keys sorted on the host by
 * all of their bytes. */
int sort_text_write(const struct text_lines *, bool descending, const uint32_t *index, size_t n,
                    const char *path, struct fault *);

#endif

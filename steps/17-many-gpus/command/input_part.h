/*
 * input_part.h — a rank's part of the input: of files, or of random numbers.
 *
 * Element i is the same for any number of ranks.
 */
#ifndef STEP17_INPUT_PART_H
#define STEP17_INPUT_PART_H

#include "common/harness/input/input.h"
#include "request.h"
#include "steps/17-many-gpus/parts/shape.h"

/* Where the elements come from. */
struct source {
    const struct request *request;
    const struct options *options;
    size_t n;                      /* of the whole */
    struct npy_file input, second; /* .file is NULL: not given */
};

/* Opens the files. Returns 0, or EXIT_USAGE; then there is nothing to close. */
int source_open(struct source *, const struct request *, const struct options *, struct fault *);
void source_close(struct source *);

/* Reads or makes the part; second->data stays NULL without a second input. The caller frees both
 * by input_free, also after a fault. */
int source_read(struct source *, struct many_part, struct input *in, struct input *second,
                struct fault *);

#endif

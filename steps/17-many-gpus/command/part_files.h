/* part_files.h — a rank's part of the input and of the result. */
#ifndef STEP17_PART_FILES_H
#define STEP17_PART_FILES_H

#include "common/harness/input/input.h"
#include "request.h"
#include "steps/17-many-gpus/parts/shape.h"
#include "part_runs.h"

/* ---- input_part.c: a rank's part of the input, from files or of random numbers --------------- */

/* Element i is the same for any number of ranks. */

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

/* ---- output_part.c: writes the result into one .npy file, each rank its part ----------------- */

/* All ranks call it. The file is written under another name beside its place, and replaces the old
 * file when all parts are complete; if a rank fails, nothing of it is left. Returns the same on all
 * ranks. */
int output_parts(const struct part_runs *, const char *path, struct fault *);

/* Can the file be written by parts? To be asked before the runs. */
int output_parts_check(const char *path, struct fault *);

#endif

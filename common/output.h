/*
 * output.h — the result as a file: whole, or not at all.
 *
 * A regular file is written beside itself and then renamed, so what stood there before stays until
 * the new one is complete. Devices and pipes are written as they are.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "element.h"
#include "fault.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct output {
    const char *path; /* as the user gave it */
    char *target;     /* what will be replaced: path with symbolic links followed; NULL: none */
    char *temporary;  /* what is being written; NULL: path itself */
    FILE *file;
    bool npy;
    enum element element;
};

/* Can the path be written, as far as one can tell without writing? To be asked before a long run.
 * */
int output_check(const char *path, struct fault *);

/* Begins to write n elements: .npy if the path ends so (of the type itself: <f4 for float),
 * otherwise text, one number a line; "-" is stdout. Each function returns 0 or EXIT_USAGE; after a
 * failure nothing of the file is left. */
int output_begin(struct output *, const char *path, enum element, size_t n, struct fault *);
int output_add(struct output *, const void *elements, size_t count, struct fault *);
int output_end(struct output *, struct fault *);
/* Drops what was written so far. */
void output_abandon(struct output *);

#ifdef __cplusplus
}
#endif

#endif

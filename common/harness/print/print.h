/*
 * print.h — writes the result into a file, completely or not at all.
 *
 * A regular file is first written as a new one beside it. When it is complete, it replaces the old
 * file. Devices and pipes are written directly (files.h).
 *
 * Several results are replaced together: between output_hold() and output_release() a file that is
 * ended does not get into its place.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "common/step/element.h"
#include "common/files/files.h"
#include "common/command/fault.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct output {
    const char *path; /* as the user gave it */
    struct replacement replacement;
    FILE *file; /* that of the replacement, or stdout */
    bool npy;
    bool as_it_is; /* elements are written as they are in memory, not as text */
    enum element element;
};

/* "-", and the names that the system has for it, such as /dev/stdout. */
bool output_is_stdout(const char *path);

/* Can the path be written? This is asked before a long run, and leaves nothing behind. */
int output_check(const char *path, struct fault *);

/* Begins to write n elements: as .npy if the path ends so (with the type of the elements, <f4 for
 * float), otherwise as text, one number per line. Each function returns 0 or EXIT_USAGE. After a
 * failure nothing of the file is left. */
int output_begin(struct output *, const char *path, enum element, size_t n, struct fault *);
/* Begins to write bytes, which are written as they are, whatever the path ends in. */
int output_begin_bytes(struct output *, const char *path, struct fault *);
int output_add(struct output *, const void *elements, size_t count, struct fault *);
int output_end(struct output *, struct fault *);
/* A write to output->file itself has failed, for the reason in errno. */
int output_failed(struct output *, struct fault *);
/* Drops what was written so far. */
void output_abandon(struct output *);

#define OUTPUT_HELD 4 /* files at most between these two calls, which are not nested */

/* From here on, files that are ended wait for output_release(). */
void output_hold(void);
/* Puts the files that wait into their places if `code` is 0, and removes them otherwise. Returns
 * `code`, or EXIT_USAGE if a file could not be put into its place; then those after it are removed,
 * and those before it have been replaced. (Devices, pipes and stdout have been written already.) */
int output_release(int code, struct fault *);

#ifdef __cplusplus
}
#endif

#endif

/*
 * output_part.h — writes the result into one .npy file, each rank its part.
 */
#ifndef STEP17_OUTPUT_PART_H
#define STEP17_OUTPUT_PART_H

#include "part_runs.h"

/* All ranks call it. The file is written under another name beside its place, and replaces the old
 * file when all parts are complete; if a rank fails, nothing of it is left. Returns the same on all
 * ranks. */
int output_parts(const struct part_runs *, const char *path, struct fault *);

/* Can the file be written by parts? To be asked before the runs. */
int output_parts_check(const char *path, struct fault *);

#endif

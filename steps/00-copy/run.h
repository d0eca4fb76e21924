/*
 * run.h — step 0's experiment.
 */
#ifndef STEP00_RUN_H
#define STEP00_RUN_H

#include "common/step/step.h"

/* Runs the pattern that --variant names, or all, verifies each, and prints a table: bytes needed,
 * bytes requested, sectors per request (where the emulator counts), time and GB/s (on a GPU).
 * Returns the exit code. */
int step00_run(const struct subject *);

/* A copy adds nothing: its depth is 0. What a pattern must write. */
double step00_depth(size_t n, int variant);
void step00_reference(double *want, const void *in, size_t n, int variant);

#endif

/*
 * program.h — the program ./step17 between MPI_Init and MPI_Finalize.
 */
#ifndef STEP17_PROGRAM_H
#define STEP17_PROGRAM_H

#include "common/harness/run/device.h"
#include "common/harness/run/runs.h"
#include "common/step/options.h"

/* A rank's options and device, which are read before MPI_Init. */
struct start {
    struct subject subject;
    struct options options;
    struct device device;
    int code; /* of reading the options and choosing the device, with its sentence */
    struct fault fault;
};

/* Does everything; returns the exit code, which is the same on all ranks. */
int program_run(struct start *);

#endif

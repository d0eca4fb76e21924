/*
 * toolkit.h — what nvcc needs in the sandbox: its own programs, gcc as its preprocessor, and the
 * headers that a lab may include.
 */
#ifndef GRADER_TOOLKIT_H
#define GRADER_TOOLKIT_H

#include "sandbox.h"

#include <limits.h>

/* Where nvcc is called inside. */
#define TOOLKIT_NVCC "/cuda/bin/nvcc"

enum { TOOLKIT_MOUNTS = 128 };

struct toolkit {
    char folder[PATH_MAX]; /* of the CUDA toolkit */
    char gcc[PATH_MAX], shell[PATH_MAX];
    struct sandbox_mount mounts[TOOLKIT_MOUNTS];
    size_t mount_count;
    char paths[TOOLKIT_MOUNTS][2][PATH_MAX]; /* what the mounts point to */
};

/* Finds gcc and the shell, and lists the mounts. `nvcc` is the path of the compiler. Returns 0 or
 * EXIT_DEVICE. The struct must not move afterwards. */
int toolkit_find(struct toolkit *, const char *nvcc, struct fault *);

#endif

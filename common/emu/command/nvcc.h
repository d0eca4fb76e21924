/*
 * nvcc.h — finds nvcc for `emu run`.
 */
#ifndef EMU_NVCC_H
#define EMU_NVCC_H

#include <limits.h>
#include <stdbool.h>

/* Finds nvcc: in $CUDA_HOME, in PATH, in /usr/local/cuda, where `make setup` puts it, or where pip
 * installs the package of PyPI. False: it is in none of these places. */
bool nvcc_find(char path[PATH_MAX]);

/* Is this the nvcc that pip installs with CUDA 13's package nvidia-cuda-nvcc? */
bool nvcc_is_pips(const char *path);

#endif

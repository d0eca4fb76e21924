/*
 * nvcc.h — finds nvcc for `emu run` and for what other commands compile.
 */
#ifndef EMU_NVCC_H
#define EMU_NVCC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds nvcc: in $CUDA_HOME, in PATH, in /usr/local/cuda, where `make setup` puts it, or where pip
 * installs the package of PyPI. False: it is in none of these places. */
bool nvcc_find(char path[PATH_MAX]);

/* Of the nvcc that pip installs with CUDA 13's package nvidia-cuda-nvcc: stores two words for it,
 * -L and a folder of libraries that the linker does not find by itself, nvcc's own, and the
 * emulator's in place of libcudart.so, which pip's packages do not have. Returns their number; 0:
 * it is another nvcc. */
size_t nvcc_pip_folders(const char *nvcc, char **words);

/* If there is no nvcc in PATH, and nvcc_find finds one: puts its folder at the end of PATH, and
 * sets CUDA_HOME and CUDA_PATH unless they are set. */
void nvcc_offer(void);

/* Of an nvcc whose toolkit has no cuBLAS or cuRAND: stores NVCC_STAND_INS words by which it finds
 * the emulator's headers and libraries, after all others. Returns their number; 0: the toolkit has
 * both. */
enum { NVCC_STAND_INS = 3 };
size_t nvcc_stand_ins(const char *nvcc, char **words);

#endif

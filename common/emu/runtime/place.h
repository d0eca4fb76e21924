/*
 * place.h — finds the place in the program that called the runtime library.
 *
 * A place is the chain of return addresses, from the program's call of the library outward. Its
 * description has a line for each function up to main: with file and line if the program was
 * compiled with -g and addr2line is installed, otherwise with function and offset.
 */
#ifndef CUDART_PLACE_H
#define CUDART_PLACE_H

#include "common/emu/emu.h"

/* Finds the place where the program called this library. */
void cudart_place(struct emu_host_place *);
/* Until the calling thread's next call of this function, code of the shared library with this
 * address counts as the emulator's own. NULL: of none. */
void cudart_place_library(const void *address);
void cudart_describe_place(const struct emu_host_place *, char *text, size_t size);

/* The name of the runtime function that the program has called, like "cudaMalloc". */
void cudart_function_name(char *name, size_t size);

#endif

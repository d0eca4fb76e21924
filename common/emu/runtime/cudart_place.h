/*
 * cudart_place.h — where in the program a call of the runtime library came from.
 *
 * A place is the chain of return addresses, from the program's own call inward to outward. In words
 * it is a line for each of its functions, up to main: with file and line where the program has them
 * (-g) and addr2line is installed, otherwise function and offset.
 */
#ifndef CUDART_PLACE_H
#define CUDART_PLACE_H

#include "common/emu/emu.h"

/* Where the program called into this library. */
void cudart_place(struct emu_host_place *);
void cudart_describe_place(const struct emu_host_place *, char *text, size_t size);

/* The name of the runtime function that the program is in: "cudaMalloc". */
void cudart_function_name(char *name, size_t size);

#endif

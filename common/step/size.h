/*
 * size.h — reads a number of elements as users write it: 1000, 64K or 1M (decimal), 64Ki or 1Mi
 * (binary), 2^20. Sums and differences of these are allowed: 2^31+5, 1Mi-1.
 */
#ifndef SIZE_H
#define SIZE_H

#include "common/command/fault.h"

#include <stddef.h>

/* Reads `text` as a size. Returns 0, or EXIT_USAGE and a sentence that begins with `name`, the name
 * of the option. */
int size_parse(const char *text, const char *name, size_t *size, struct fault *);

#endif

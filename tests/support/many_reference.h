/* many_reference.h — the bits that step 17 has to have. */
#ifndef MANY_REFERENCE_H
#define MANY_REFERENCE_H

#include "steps/17-many-gpus/parts/part.h"

#include <stdbool.h>

/* Scans n elements, slowly. out may be an input. Returns false if there is no memory. */
bool many_reference(enum many_op op, void *out, const void *in, const void *in2, size_t n,
                    bool inclusive);

#endif

/*
 * reference.h — the scan of step 17 on the CPU: the same tree (shape.h), so the same bits. It is
 * small, and slow.
 */
#ifndef STEP17_REFERENCE_H
#define STEP17_REFERENCE_H

#include "steps/17-many-gpus/parts/operator.h"
#include "steps/17-many-gpus/parts/shape.h"

#include <stdbool.h>

/* Scans n elements. out may be an input. Returns false if there is no memory. */
bool many_reference(enum many_op, void *out, const void *in, const void *in2, size_t n,
                    bool inclusive);

#endif

/*
 * same_ptx.h — are two PTX texts the same but for names?
 */
#ifndef SAME_PTX_H
#define SAME_PTX_H

#include "common/labs/lab.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Computes 128 bits from the kernels that a lab launches (NULL: from all kernels), and from the
 * functions that they call. The order of kernels, other kernels and functions, and variables
 * outside of them do not matter. Two texts give the same bits if their kernels differ only in
 * blanks, comments, line numbers, names of files, and names of registers, labels, kernels,
 * parameters and variables: names are numbered in the order in which they occur. Other texts hardly
 * ever give the same bits. Without a kernel, both words are 0.
 */
void same_ptx(const struct lab *, const char *ptx, size_t size, uint64_t bits[2]);

#endif

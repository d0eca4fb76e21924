/*
 * same_ptx.h — are two PTX texts the same but for names?
 */
#ifndef SAME_PTX_H
#define SAME_PTX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Computes 128 bits from PTX. Two texts give the same bits if they differ only in blanks, comments,
 * line numbers, names of files, and names of registers, labels, kernels, parameters and variables:
 * names are numbered in the order in which they occur. Other texts hardly ever give the same bits.
 */
void same_ptx(const char *ptx, size_t size, uint64_t bits[2]);

#endif

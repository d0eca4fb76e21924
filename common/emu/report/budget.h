/*
 * budget.h — limits on what kernels may count, and an earlier run that they are compared with.
 *
 * A budget is a text file. Each line has a kernel's base name, or * for each kernel; a counter; and
 * the largest number that one launch may have. # begins a comment. A counter is the name of a
 * metric (emu --help), or conflicts, wavefronts, sectors or excess_sectors: of loads, stores and
 * atomics together.
 *
 * A baseline is what emu --csv has written of an earlier run. Its columns of bank conflicts,
 * wavefronts and sectors are compared, as sums over all launches of a kernel.
 */
#ifndef EMU_BUDGET_H
#define EMU_BUDGET_H

#include "report.h"

struct budget;

/* Read a file. NULL: it cannot be read or is malformed, and one sentence is in message[size]. */
struct budget *budget_read(const char *path, char *message, size_t size);
struct budget *baseline_read(const char *path, char *message, size_t size);
void budget_free(struct budget *);

/* Prints a sentence for each excess, and for each limit of a kernel that failed. Returns how many
 * sentences these are. */
size_t budget_check(FILE *, const struct budget *, const struct document *);

/* The base names of the kernels that were launched, each with a newline behind it. */
void budget_write_kernels(FILE *, const struct document *);
/* Prints a sentence for each kernel of a budget that is not among these. Returns how many sentences
 * these are. */
size_t budget_check_missing(FILE *, const struct budget *, const char *kernels, size_t length);

#endif

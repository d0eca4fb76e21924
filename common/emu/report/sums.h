/* sums.h — a document's counters, summed over its launches. */
#ifndef EMU_SUMS_H
#define EMU_SUMS_H

#include "report.h"

void sum_add(struct emu_counts *to, const struct emu_counts *);

/* A source line. */
struct line_sum {
    const char *file; /* the record's */
    unsigned line;
    struct emu_counts counts;
};
/* In order of file and line, malloc'd; NULL: out of memory, or no line has counted. */
struct line_sum *line_sums(const struct document *, size_t *count);

/* The launches of kernels with one base name. */
struct kernel_sum {
    char name[256];
    size_t launches; /* that have ended */
    struct emu_counts counts;
};
/* In the order of their first launch, malloc'd; NULL: out of memory, or no kernel was launched. */
struct kernel_sum *kernel_sums(const struct document *, size_t *count);

/* Bank conflicts of loads, stores, atomics and copies: wavefronts beyond the ideal. */
uint64_t sum_conflicts(const struct emu_counts *);
uint64_t sum_wavefronts(const struct emu_counts *);
/* Sectors of loads, copies, stores and atomics; and those beyond what their bytes would fill. */
uint64_t sum_sectors(const struct emu_counts *);
uint64_t sum_excess_sectors(const struct emu_counts *);

/* The lines with the most bank conflicts and excess sectors together, the worst first; only lines
 * that have any. malloc'd; NULL: out of memory, or no line has any. */
struct line_sum *worst_lines(const struct document *, size_t most, size_t *count);
/* "14 bank conflicts (16 wavefronts, of which 2 would do), 48 excess sectors (64, …)" */
void describe_line_sum(const struct emu_counts *, char *text, size_t size);

#endif

/*
 * report.h — the counters of launches, as report.c keeps them and report_text.c prints them for
 * people.
 */
#ifndef CUDART_REPORT_H
#define CUDART_REPORT_H

#include "common/emu/count/metrics.h"
#include "common/emu/runtime/cudart.h"

#include <stdio.h>

enum { NAME_SIZE = 256 };

/* A launch as it will be printed. */
struct launch_row {
    char kernel[NAME_SIZE];
    const struct function *function; /* what launches of one kernel on one device have in common */
    unsigned long long stream;
    int device;
    struct emu_dim grid, block;
    cudaError_t error; /* not cudaSuccess: the kernel failed, and what it counted is not kept */
    struct emu_agreement agreement; /* with its own copy of the text */
    struct emu_counts total;
    size_t line_count;
    struct emu_line *lines; /* with their own copies of the files' names */
    size_t operation_count;
    struct emu_operation *operations;
};

struct launch_report {
    const struct metric *metrics[MAX_METRICS];
    size_t metric_count;
    bool by_line;            /* counts of each source line, not of each kernel */
    bool work;               /* PTX operations, too: no metrics were asked for by name */
    bool all_launches;       /* each launch by itself, not the launches of a kernel together */
    const char *kernel;      /* only kernels of this name are in it; NULL: all */
    struct launch_row *rows; /* oldest first */
    size_t row_count;
};

/* Prints launches as tables: those of a kernel together, as their sum and the largest value of one
 * launch, or each by itself. */
void cudart_report_text(FILE *out, const struct launch_report *);

#endif

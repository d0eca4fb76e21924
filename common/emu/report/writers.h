/* writers.h — tables of a document's counters, and what the writers of a document share. */
#ifndef EMU_WRITERS_H
#define EMU_WRITERS_H

#include "common/emu/watch/metrics.h"
#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- driver_text.c, csv.c: tables of the counters of launches, for people and in the layout of
 * ncu -- */

/* What a table has. */
struct tables {
    const struct metric *metrics[MAX_METRICS];
    size_t metric_count;
    bool is_default;    /* no metrics were asked for by name: operations and the verdict, too */
    bool by_line;       /* counts of each source line, not of each launch or kernel */
    bool csv;           /* not text */
    bool is_summary;    /* text: one line */
    bool all_launches;  /* text: each launch by itself, not the launches of a kernel together */
    bool has_head;      /* CSV: no other program has written the names of the columns */
    const char *kernel; /* the document holds only kernels that this asks for; NULL: all */
};

void tables_write_text(FILE *, const struct document *, const struct tables *);
void tables_write_csv(FILE *, const struct document *, const struct tables *);

/* ---- work_text.c: the PTX instructions of one or more launches in two short lines for people - */

/* Sums of operations. Begins as zeros; `all` is malloc'd, and the caller frees it. */
struct work_sum {
    struct emu_operation *all; /* names and types are those of the records */
    size_t count;
};

/* Adds the operations of a launch. False: out of memory. */
bool work_sum_add(struct work_sum *, const struct emu_operation *, size_t count);

/* "PTX instructions by class: …" and "arithmetic, in elements of all threads: …", without what is
 * zero, in lines of at most 100 columns with an indentation of 4. */
void work_text_print(FILE *, const struct work_sum *);

/* ---- html.c, html_banks.c, html_timeline.c: parts of the HTML page --------------------------- */

/* Writes a text with what HTML reads as a mark escaped, and what is not visible as C writes it. */
void html_text(FILE *, const char *text);

/* Write the document's pictures, or nothing if it has no pictures. Their size is bounded by the
 * number of pictures that emu.h keeps. */
void html_banks(FILE *, const struct document *);
void html_timelines(FILE *, const struct document *);

/* ---- json_document.c, sarif.c, html.c: parts, of which document_parts.c makes one document --- */

void json_write_part(FILE *, const struct document *);
void sarif_write_part(FILE *, const struct document *);
void html_write_part(FILE *, const struct document *);

/* What stands before the first part and after the last one. */
void sarif_begin(FILE *, const char *title);
void sarif_end(FILE *);
void html_begin(FILE *, const char *title);
void html_end(FILE *);

#endif

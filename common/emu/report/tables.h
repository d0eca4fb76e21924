/*
 * tables.h — the counters of a document's launches as tables for people (text.c), and as CSV in the
 * layout of ncu (csv.c).
 */
#ifndef EMU_TABLES_H
#define EMU_TABLES_H

#include "common/emu/count/metrics.h"
#include "document.h"

/* What is printed of them. */
struct tables {
    const struct metric *metrics[MAX_METRICS];
    size_t metric_count;
    bool is_default;    /* no metrics were asked for by name: operations and the verdict, too */
    bool by_line;       /* counts of each source line, not of each launch or kernel */
    bool csv;           /* not text */
    bool all_launches;  /* text: each launch by itself, not the launches of a kernel together */
    bool has_head;      /* CSV: no other program has written the names of the columns */
    const char *kernel; /* the document holds only kernels that this asks for; NULL: all */
};

void tables_write_text(FILE *, const struct document *, const struct tables *);
void tables_write_csv(FILE *, const struct document *, const struct tables *);

#endif

/* csv_line.h — a line of CSV, taken apart. */
#ifndef EMU_CSV_LINE_H
#define EMU_CSV_LINE_H

#include <stddef.h>

/* Splits a line at its commas, in place. Quotes around a field go away, and "" inside of them is
 * one. A newline may end the line. Returns the malloc'd array of fields; NULL: out of memory, or a
 * quote is not closed. */
char **csv_line_split(char *text, size_t *count);

#endif

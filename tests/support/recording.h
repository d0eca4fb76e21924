/*
 * recording.h — reads a recording of profiles/ row by row. Tests run in the top folder.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stdio.h>

struct recording {
    FILE *file;
    char *header, *line;   /* the text of the two arrays */
    char **names, **cells; /* of the columns, without units; of the row that was read last */
    size_t columns;
};

/* Opens a file. The test fails if it has no table. */
void recording_open(struct recording *, const char *path);

/* Reads the next row, which may be the first one of another table. False, and closed: there is
 * none. */
bool recording_next(struct recording *);

/* The row's cell in this column; "" if its table has no such column. */
const char *recording_cell(const struct recording *, const char *name);

#endif

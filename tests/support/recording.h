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

/* Opens a file of one table. The test fails if there is none. */
void recording_open(struct recording *, const char *path);

/* Reads the next row. False, and closed: there is none. */
bool recording_next(struct recording *);

/* The row's cell in this column. */
const char *recording_cell(const struct recording *, const char *name);

#endif

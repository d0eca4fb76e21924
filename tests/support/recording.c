/* recording.c — reads a recording of profiles/ row by row. */
#define _GNU_SOURCE /* getline */
#include "recording.h"

#include "common/tools/emu/report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Reads a line that is no comment, and splits it. */
static char **read_cells(FILE *file, char **line, size_t *count)
{
    size_t size = 0;
    free(*line);
    *line = NULL;
    do {
        if (getline(line, &size, file) < 0) return NULL;
    } while (**line == '#');
    return csv_line_split(*line, count);
}

static void read_names(struct recording *r)
{
    free(r->names);
    r->names = read_cells(r->file, &r->header, &r->columns);
    cr_assert(r->names, "a recording without a table");
    for (size_t i = 0; i < r->columns; i++) {
        char *unit = strstr(r->names[i], " (");
        if (unit) *unit = '\0';
    }
}

void recording_open(struct recording *r, const char *path)
{
    *r = (struct recording){.file = fopen(path, "r")};
    cr_assert(r->file, "cannot read %s", path);
    read_names(r);
}

bool recording_next(struct recording *r)
{
    size_t count;
    free(r->cells);
    r->cells = read_cells(r->file, &r->line, &count);
    if (r->cells && count == 1 && !r->cells[0][0]) { /* an empty line between two tables */
        free(r->cells);
        read_names(r);
        r->cells = read_cells(r->file, &r->line, &count);
    }
    if (r->cells) {
        cr_assert(count == r->columns, "%zu cells, not %zu, in the row of %s", count, r->columns,
                  r->cells[0]);
        return true;
    }
    cr_assert(feof(r->file), "not a row: %s", r->line);
    fclose(r->file);
    free(r->names);
    free(r->header);
    free(r->line);
    return false;
}

const char *recording_cell(const struct recording *r, const char *name)
{
    size_t i = 0;
    while (i < r->columns && strcmp(r->names[i], name) != 0) i++;
    return i < r->columns ? r->cells[i] : "";
}

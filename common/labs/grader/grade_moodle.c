/*
 * grade_moodle.c — moodle.csv: a row for each student, to be imported into Moodle's gradebook.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place of the only submission of a student; count if they handed in none, or several. */
static size_t only_one(const struct roster *roster, const struct submission *list, size_t count,
                       const char *name, bool *several)
{
    size_t found = count;
    *several = false;
    for (size_t i = 0; i < count; i++) {
        size_t owner = roster_find(roster, list[i].name);
        if (strcmp(owner < roster->count ? roster->names[owner] : list[i].name, name) != 0)
            continue;
        *several = found < count;
        found = i;
        if (*several) return count;
    }
    return found;
}

/* A row of a judged submission: "judged,POINTS,MOST,…", and as the last cell "REASON" in quotes. */
static bool print_judged(FILE *out, const char *identifier, const char *row)
{
    enum { CELLS_BEFORE_REASON = 9 };
    static const char judged[] = STATUS_JUDGED ",";
    if (row == NULL || strncmp(row, judged, strlen(judged)) != 0) return false;
    const char *points = row + strlen(judged), *most = strchr(points, ',') + 1, *reason = row;
    for (int i = 0; i < CELLS_BEFORE_REASON; i++) reason = strchr(reason, ',') + 1;
    csv_cell(out, identifier);
    fprintf(out, ",%.*s,\"%.*s of %.*s points.%s%s\n", (int)strcspn(points, ","), points,
            (int)strcspn(points, ","), points, (int)strcspn(most, ","), most,
            reason[1] == '"' ? "" : " ", reason + 1);
    return true;
}

/* Returns whether the student has a row: two submissions, or one that is not judged, are for a
 * person to look at, and an import would hide that. */
static bool print_student(FILE *out, const struct grader *grader, const struct submission *list,
                          size_t count, const char *name, const char *identifier)
{
    bool several;
    size_t of = only_one(&grader->roster, list, count, name, &several);
    if (several) return false;
    if (of == count) {
        csv_cell(out, identifier);
        fputs(",0.00,\"Nothing was handed in.\"\n", out);
        return true;
    }
    char *row = state_row(grader, &list[of], NULL);
    bool is_judged = print_judged(out, identifier, row);
    free(row);
    return is_judged;
}

int moodle_write(const struct grader *grader, const struct submission *list, size_t count,
                 struct fault *fault)
{
    const struct roster *roster = &grader->roster;
    char path[PATH_MAX], *text;
    size_t size, students = roster->count > 0 ? roster->count : count, rows = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) abort();
    fputs("identifier,points,feedback\n", out);
    for (size_t i = 0; i < students; i++) {
        const char *name = roster->count > 0 ? roster->names[i] : list[i].name;
        const char *identifier = roster->count > 0 ? roster->identifiers[i] : name;
        rows += print_student(out, grader, list, count, name, identifier);
    }
    fclose(out);
    snprintf(path, sizeof path, "%s/moodle.csv", grader->out);
    int code = state_write(path, text, size, fault);
    free(text);
    if (code == 0 && rows < students)
        fprintf(stderr,
                "grade-labs: %s leaves out %zu that are not judged or handed in twice; see "
                "grades.csv\n",
                path, students - rows);
    return code;
}

/*
 * grade_note.c — what an instructor has to know of a submission before its points are used.
 */
#include "grader.h"

#include <stdio.h>
#include <string.h>

/* Separates one sentence from the next. */
static void next(FILE *out, bool *first)
{
    if (!*first) fputs("; ", out);
    *first = false;
}

static bool same_student(const struct grader *grader, const struct submission *left,
                         const struct submission *right)
{
    size_t owner = roster_find(&grader->roster, left->name);
    if (owner < grader->roster.count) return owner == roster_find(&grader->roster, right->name);
    return strcmp(left->name, right->name) == 0;
}

void print_note(FILE *out, const struct grader *grader, const struct submission *list, size_t count,
                size_t of)
{
    bool first = true;
    if (state_is_later(grader, &list[of])) {
        next(out, &first);
        fputs("handed in again after a report that shows the sizes and inputs of this seed", out);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == of || !same_student(grader, &list[i], &list[of])) continue;
        next(out, &first);
        fprintf(out, "%s is of the same student", list[i].path);
    }
    if (roster_find(&grader->roster, list[of].name) < grader->roster.count ||
        grader->roster.count == 0)
        return;
    next(out, &first);
    fputs("not on the roster", out);
}

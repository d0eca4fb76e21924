/*
 * roster.h — the names of all students of a class, so that grades.csv has a row for each of them.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include "common/command/fault.h"

#include <stdbool.h>
#include <stddef.h>

/* `names` are in the order of the file, all different, and owned by the roster, as are the
 * `identifiers`: what another system calls the student, or else the name. */
struct roster {
    char **names, **identifiers;
    size_t count;
};

/* Reads a file with one name a line, which a tab and an identifier may follow. Empty lines and
 * lines that begin with # do not count. Returns 0 or EXIT_USAGE; roster_end() frees all in both
 * cases. */
int roster_read(const char *path, struct roster *, struct fault *);
void roster_end(struct roster *);

/*
 * The student whom a submission belongs to: its name is the student's, or begins with it and goes
 * on with _, as "Anna Berg_123_assignsubmission_file" does. The longest such name counts.
 * roster->count: the submission belongs to none.
 */
size_t roster_find(const struct roster *, const char *submission);

/*
 * Does a submission's name look like the student's, though its bytes differ? Accents, upper and
 * lower case of a to z, and blanks in place of _ - . do not count. So "Åsa" with one character for
 * Å looks like "Åsa" with an A and a ring, which is how macOS writes it. Accents are known on Latin
 * letters only.
 */
bool roster_looks_alike(const char *student, const char *submission);

#endif

/*
 * submission.h — finds what students have handed in, and copies it.
 *
 * Nothing here trusts a name or a file: names may hold any bytes, only regular files are read, and
 * links are not followed.
 */
#ifndef SUBMISSION_H
#define SUBMISSION_H

#include "common/command/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    SUBMISSION_BYTES = 1 << 18, /* of a source file */
    SUBMISSION_NAME = 2 * (NAME_MAX + 1),
    SUBMISSION_ID = 160,
};

struct submission {
    char name[NAME_MAX + 1];    /* of the student: NAME of NAME.cu, NAME.zip, or the folder NAME */
    char path[SUBMISSION_NAME]; /* from the folder of all submissions */
    char id[SUBMISSION_ID];     /* made of the name; safe as the name of a file, and unique */
    unsigned files;             /* in a folder: how many of its entries end in .cu */
    unsigned others;            /* in a folder: how many do not */
    /* Something is there, and which file counts is for a person to say: another file than NAME.cu,
     * or a folder without one that counts. It is not read. */
    bool unclear;
};

/*
 * Lists the submissions of a folder in the order of their paths: files NAME.cu, and folders NAME.
 * Of a folder the file labN.cu counts, or its only file that ends in .cu. Upper and lower case of
 * .cu are the same. All other files are listed as unclear, so that nothing is passed over in
 * silence. Names that begin with a dot are left out. Returns 0 or EXIT_USAGE. The caller frees
 * *list.
 */
int submissions_find(const char *folder, int lab, struct submission **list, size_t *count,
                     struct fault *);

/* The one submission that is called by the path of its folder or file, and the folder round it.
 * Returns 0 or EXIT_USAGE. */
int submission_at(const char *path, int lab, char folder[PATH_MAX], struct submission *,
                  struct fault *);

/* Reads a submission. Returns its bytes, with a NUL behind, which the caller frees; or NULL, and
 * `why` says in one sentence why it cannot be graded. */
char *submission_read(const char *folder, const struct submission *, size_t *size, char *why,
                      size_t why_size);

#endif

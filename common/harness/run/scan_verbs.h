/*
 * scan_verbs.h — opens a step: a plain scan gets its verbs here.
 */
#ifndef SCAN_VERBS_H
#define SCAN_VERBS_H

#include "common/command/fault.h"
#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The verbs of every step without verbs of its own. It has no `judge`: its sums are compared piece
 * by piece (runs.c). */
extern const struct verbs scan_verbs;

/* Opens a step, before its options are read into *options. */
void subject_open(struct subject *, const struct step *, const struct options *);
void subject_close(struct subject *);

/* The files of the step's own options; returns how many. */
size_t subject_files(const struct subject *, struct own_file files[OWN_FILES]);

/* Does one of the results go to stdout, so that the report has to go elsewhere? */
bool subject_uses_stdout(const struct subject *);

/* EXIT_USAGE and a sentence if two of them do. */
int subject_check_files(const struct subject *, struct fault *);

/* Is the result shifted, because --inclusive asks for it? Other subjects obey by themselves. */
bool subject_shifts(const struct subject *);

#ifdef __cplusplus
}
#endif

#endif

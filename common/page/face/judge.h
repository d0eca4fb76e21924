/* judge.h — judges a lab or a first puzzle in the page, as `make check3 COMPILER=own` does. */
#ifndef PAGE_JUDGE_H
#define PAGE_JUDGE_H

#include "request.h"
#include <stdio.h>

/* Writes the answer to a request whose `lab` is not "", as face.h describes it. */
void judge_answer(FILE *out, const struct request *);

/* Some of the runs are done. The page shows it. (outside.c) */
void face_progress(unsigned done, unsigned all);

#endif

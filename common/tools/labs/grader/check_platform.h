/*
 * check_platform.h — judges one submission for a platform for courses.
 */
#ifndef CHECK_PLATFORM_H
#define CHECK_PLATFORM_H

#include "grader.h"

/*
 * Judges the folder or the file `path`. Of the grader are needed: lab, weights, programs, seed,
 * own_compiler and otherwise toolkit. `work` is an empty folder of the caller, who removes it with
 * lab.cu and lab.ptx in it, and `solution` the PTX of the step's solution. Fills the verdict, and
 * *messages with the compiler's messages, which the caller frees. Returns 0, or an exit code if
 * the path is wrong or this installation is not in order. All processes of the submission have
 * ended when it returns.
 */
int check_platform(struct grader *, const char *path, const char *work, const char *solution,
                   struct lab_verdict *, char **messages, struct fault *);

#endif

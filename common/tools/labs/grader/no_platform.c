/*
 * no_platform.c — of the check-lab with which a student checks an own lab: without --format, and
 * so without the sandbox and what reads a submission.
 */
#include "check_platform.h"

static int refuse(struct fault *fault)
{
    return fail(fault, EXIT_USAGE,
                "This check-lab has no --format. `make autograder-gradescope LAB=3` and the like "
                "build one that has, build/autograder/labs/check-lab.");
}

int toolkit_find(struct toolkit *toolkit, const char *nvcc, struct fault *fault)
{
    (void)toolkit, (void)nvcc;
    return refuse(fault);
}

int check_platform(struct grader *grader, const char *path, const char *work, const char *solution,
                   struct lab_verdict *verdict, char **messages, struct fault *fault)
{
    (void)grader, (void)path, (void)work, (void)solution, (void)verdict;
    *messages = NULL;
    return refuse(fault);
}

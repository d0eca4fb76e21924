/*
 * main.c — ./wrong-scan NAME [options]: a wrong scan (wrong.h) as a program like ./stepN, for those
 * that end the program, and for exit codes.
 */
#include "common/harness/run/runs.h"
#include "tests/cases/wrong/wrong.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    const struct step *step = argc > 1 ? wrong_find(argv[1]) : NULL;
    if (step != NULL) return harness_main(step, argc - 1, argv + 1);
    fprintf(stderr, "usage: %s NAME [options], NAME being that of a scan in tests/cases/wrong\n",
            argv[0]);
    return EXIT_USAGE;
}

/*
 * main.c — ./wrong-scan NAME [options]: a wrong scan (wrong.h) as a program like ./stepN, for those
 * that end the program, and for exit codes.
 */
#include "common/harness/harness.h"
#include "tests/wrong/wrong.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (const struct wrong *w = wrong_scans; argc > 1 && w->n; w++)
        if (strcmp(w->step.name, argv[1]) == 0) return harness_main(&w->step, argc - 1, argv + 1);
    if (argc > 1 && strcmp(wrong_moving.name, argv[1]) == 0)
        return harness_main(&wrong_moving, argc - 1, argv + 1);
    fprintf(stderr, "usage: %s NAME [options], NAME being that of a scan in tests/wrong\n",
            argv[0]);
    return EXIT_USAGE;
}

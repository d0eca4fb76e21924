/*
 * run_first.c — runs one of the first puzzles from PTX, since the host code of its file needs nvcc:
 *
 *     run-first NAME FILE.ptx
 *
 * The exit code is 0 if the numbers are right and no checker found anything, and 1 if not.
 */
#include "run_case.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **argument)
{
    struct lab_ptx ptx = {0};
    struct fault fault = {0};
    const struct puzzle *puzzle = count == 3 ? puzzle_named(argument[1]) : NULL;
    int code = puzzle ? ptx_read(argument[2], &ptx, &fault)
                      : fail(&fault, EXIT_USAGE, "Give first1 to first5, and PTX.");
    if (!code) code = run_puzzle(puzzle, &ptx, stdout, &fault);
    free(ptx.text);
    return *fault.text ? fault_say(&fault) : code;
}

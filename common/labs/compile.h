/*
 * compile.h — how a lab's file is compiled to PTX: nvcc with these options, for `check`, for the
 * step's own solution, and in the grader's sandbox.
 */
#ifndef LAB_COMPILE_H
#define LAB_COMPILE_H

enum { COMPILE_ARGUMENTS = 16 };

/* Fills argv, which ends with NULL: nvcc, its options, source and output. The strings are the
 * caller's or constants. */
void compile_arguments(const char *nvcc, const char *source, const char *ptx,
                       const char *argv[COMPILE_ARGUMENTS]);

/* ---- process.c ------------------------------------------------------------------------------- */

/* Runs a program to its end, with stdout and stderr in the file `log` (NULL: as they are).
 * Returns its exit code, 128 + the number of a signal that ended it, or -1 and errno. */
int run_program(const char *const *argv, const char *log);

#endif

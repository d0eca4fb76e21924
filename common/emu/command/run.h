/*
 * run.h — `emu run FILE.cu`: compiles a source file, and runs what was made of it.
 */
#ifndef EMU_RUN_H
#define EMU_RUN_H

#include <limits.h>

/* Compiles a CUDA source file, which may be NULL for none, into a temporary folder that is removed
 * when the process exits, and stores the program's path. Prints the command on stderr. Ends the
 * process with exit code 2 if there is no such file, no nvcc, or if nvcc finds mistakes. */
void emu_run_compile(const char *file, char program[PATH_MAX]);

/* Runs the program with these arguments, as execv does, waits for it, and ends the process with its
 * exit code, or by the signal that ended the program. */
__attribute__((noreturn)) void emu_run_wait(const char *program, char *const *arguments);

#endif

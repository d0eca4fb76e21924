/*
 * compile.h — how a lab's file is compiled to PTX: nvcc with these options, for `check`, for the
 * step's own solution, and in the grader's sandbox; or, for `check` without nvcc, common/tools/cc.
 */
#ifndef LAB_COMPILE_H
#define LAB_COMPILE_H

#include <stdbool.h>

enum { COMPILE_ARGUMENTS = 16 };

/* What the compiler may use for a student's file, in a check and in a grading: bytes of addresses
 * and seconds of processor time of a process, bytes of a file, and bytes of messages. A lab's file
 * takes nvcc 2 s, 250 MB and 20 kB of PTX. */
#define COMPILE_ADDRESSES (2ULL << 30)
enum { COMPILE_SECONDS = 10, COMPILE_FILE = 128 << 20, COMPILE_MESSAGES = 1 << 16 };

/* What a verdict says of a file that does not compile. */
#define COMPILE_REFUSED "It does not compile; the compiler says where, above."
/* As the grader says it. A platform's student has no report, but the messages themselves. */
#define COMPILE_REPORTED "It does not compile; the compiler's messages are in the report."

/* Fills argv, which ends with NULL: nvcc, its options, source and output. The strings are the
 * caller's or constants. */
void compile_arguments(const char *nvcc, const char *source, const char *ptx,
                       const char *argv[COMPILE_ARGUMENTS]);
/* The same for upcc, the compiler of common/tools/cc. */
void compile_own_arguments(const char *upcc, const char *source, const char *ptx,
                           const char *argv[COMPILE_ARGUMENTS]);

/* Has a limit of a process ended the compiler, by its exit code, which is 128 and more after a
 * signal, or a part of it, by its messages? If a submission says so itself, by #error, it only gets
 * another reason. ptxas and nvcc exit with 255 after an error. */
bool compile_exceeded(int code, const char *messages);

/* ---- process.c ------------------------------------------------------------------------------- */

/* Runs a program to its end, with stdout and stderr in the file `log` (NULL: as they are).
 * Returns its exit code, 128 + the number of a signal that ended it, or -1 and errno. */
int run_program(const char *const *argv, const char *log);
/* Runs a compiler to its end, within the limits above, except that of messages. */
int run_compiler(const char *const *argv, const char *log);

#endif

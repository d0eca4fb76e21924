/*
 * files.h — the files of a command line: none is written over what is read, or written twice.
 */
#ifndef FILES_H
#define FILES_H

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compares the input, the outputs, stdout, stderr and the program itself, as far as they are
 * regular files, also by way of links and redirections. Returns 0, or EXIT_USAGE and which two are
 * the same. To be asked before anything is opened. */
int files_check(const struct options *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif

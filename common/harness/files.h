/*
 * files.h — checks the files of a command line: an output must not overwrite an input or another
 * output.
 */
#ifndef FILES_H
#define FILES_H

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compares the input, the outputs, stdout, stderr and the program itself, as far as they are
 * regular files, also by way of links and redirections. The files that the environment makes the
 * emulator write are outputs, too: EMU_TRACE, EMU_LOG_FILE, EMU_CHECK_LOG. Returns 0, or EXIT_USAGE
 * and a sentence that names the two that are the same. Call it before any file is opened. */
int files_check(const struct options *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif

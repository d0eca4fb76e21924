/*
 * same_files.h — checks the files of a command line: an output must not overwrite an input or
 * another output.
 */
#ifndef SAME_FILES_H
#define SAME_FILES_H

#include "common/harness/run/scan_verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds regular files that are used twice among the input, the outputs, the files of a step's own
 * options stdout, stderr and the program itself, also through links and
 * redirections. Files that the emulator writes because of EMU_TRACE, EMU_LOG_FILE or EMU_CHECK_LOG
 * are outputs, too. Returns 0, or EXIT_USAGE and a sentence that names both. Must be called before
 * any file is opened. */
int files_check(const struct subject *, struct fault *);

/* Does one of the outputs go to stdout, so that the report has to go elsewhere? */
bool files_use_stdout(const struct subject *);

#ifdef __cplusplus
}
#endif

#endif

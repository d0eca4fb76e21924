/*
 * whole_file.h — writes a file completely or not at all.
 */
#ifndef EMU_WHOLE_FILE_H
#define EMU_WHOLE_FILE_H

#include <stddef.h>

/*
 * Writes text[0..length) to a path; NULL or "stdout" is the standard output, "stderr" the standard
 * error. A regular file is first written as a new one beside it and then put into its place, so
 * that its old content stays if anything fails; a device or a pipe is written as it is.
 * Returns 0 or an errno.
 */
int whole_file_write(const char *path, const char *text, size_t length);

/* Tests whether whole_file_write would succeed. Returns 0 or an errno, and leaves no file
 * behind. */
int whole_file_check(const char *path);

#endif

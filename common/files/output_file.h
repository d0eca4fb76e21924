/*
 * output_file.h — files that must not be written over.
 */
#ifndef EMU_OUTPUT_FILE_H
#define EMU_OUTPUT_FILE_H

#include <stdbool.h>

/* Do two paths lead to one file, by whatever links, or to one that is not there yet? Devices and
 * pipes are never the same, nor are the words stdout and stderr; NULL is no path. */
bool output_is_same(const char *path, const char *other);

/* Why a file must not be written, as "is the program itself"; NULL: it may be. It must not be the
 * program that runs, nor any other program or library; nor be named by the program's arguments (up
 * to NULL; NULL: they are not known), alone or behind '=', which may be a file that it reads. */
const char *output_refusal(const char *path, const char *program, char *const *arguments);

#endif

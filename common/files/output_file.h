/*
 * output_file.h — finds out which files must not be overwritten.
 */
#ifndef EMU_OUTPUT_FILE_H
#define EMU_OUTPUT_FILE_H

#include <stdbool.h>

/* Do two paths lead to the same file, through any links, also if it does not exist yet? Devices and
 * pipes never count as the same, nor do the words stdout and stderr. NULL is not the same as any
 * path. */
bool output_is_same(const char *path, const char *other);

/* The reason why a file must not be written, such as "is the program itself"; NULL: it may be
 * written. A file must not be written if it is the program that runs, or any other program or
 * library, or a source file by its name. It must not be written either if one of the program's
 * arguments names it, alone or behind '=', since the program may read that file. `arguments` ends
 * with NULL; if it is NULL, the arguments are not known. */
const char *output_refusal(const char *path, const char *program, char *const *arguments);

#endif

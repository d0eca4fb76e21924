/* source_path.h — how reports name source files. */
#ifndef EMU_SOURCE_PATH_H
#define EMU_SOURCE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A file's path without "." and "..", as it is seen from the absolute path "root" of a folder:
 * relative if the file lies in the folder, and otherwise absolute. A relative path is taken to
 * begin at that folder. With "root" NULL, and for paths that are too long, it is the path as it
 * is. `seen` has room for PATH_MAX bytes. */
void source_path(const char *path, const char *root, char *seen);

/* Does an absolute path without "." and ".." lie in that folder? */
bool source_path_is_in(const char *path, const char *root);

#endif

/* source_path.h — how reports name source files. */
#ifndef EMU_SOURCE_PATH_H
#define EMU_SOURCE_PATH_H

/* A path as it is seen from a folder, which is absolute: without the folder if the file lies in it,
 * and otherwise as it is. "root" may be NULL. */
const char *source_path_in(const char *path, const char *root);

#endif

/* text.h — files of code. */
#ifndef EMU_DRIVER_TEXT_H
#define EMU_DRIVER_TEXT_H

#include <stddef.h>

/* Reads a file into memory that the caller frees, with a NUL behind it, which *bytes does not
 * count. NULL: it cannot be read. */
char *driver_read_file(const char *path, size_t *bytes);

#endif

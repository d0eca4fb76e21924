/* program_path.h — where a program is that is named without a slash. */
#ifndef EMU_PROGRAM_PATH_H
#define EMU_PROGRAM_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Finds it in the folders of PATH. False: it is in none of them. */
bool program_path(const char *name, char path[PATH_MAX]);

#endif

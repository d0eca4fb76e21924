/* children.h — running a command that is no CUDA program: a script, make, an interpreter. */
#ifndef EMU_CHILDREN_H
#define EMU_CHILDREN_H

#include "common/emu/settings/settings.h"

/* Runs the file with these arguments to its end, and prints what the CUDA programs that it started
 * have reported, or in one sentence that it started none. Returns the exit code: the command's, or
 * 128 and the number of the signal that ended it. */
int emu_command(const char *path, char **arguments);

/* Opens a file in memory, and sets the variable to its name for the programs that this process
 * starts. */
int emu_open_memory(enum setting_id);

#endif

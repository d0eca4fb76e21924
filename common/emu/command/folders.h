/*
 * folders.h — where the command emu and the emulator's libraries lie.
 */
#ifndef EMU_FOLDERS_H
#define EMU_FOLDERS_H

#include <limits.h>

/* This command's file. Ends the process with one sentence if it cannot be found. */
void emu_own_file(char path[PATH_MAX]);

/* The folder of this command. Ends the process with one sentence if it cannot be found. */
void emu_own_folder(char folder[PATH_MAX]);

/* The folder of the emulator's libraries: that of this command, as in build/emu, or else
 * ../lib/upsweep beside it, as `make install` lays them out. So an installed tree may be moved. */
void emu_library_folder(char folder[PATH_MAX]);

#endif

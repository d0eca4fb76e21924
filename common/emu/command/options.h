/*
 * options.h — the command line of emu.
 */
#ifndef EMU_OPTIONS_H
#define EMU_OPTIONS_H

#include <stdbool.h>

/* Printed by emu --version, and part of the name of the tarball that `make dist` makes. */
#define EMU_VERSION "1.0"

/* Reads the options, sets the EMU_* variables, and reads these (settings.h). Returns the index of
 * PROGRAM in argv. *report: --report. Ends the process after --help and the like, and with one
 * sentence if an option is wrong. */
int emu_options(int argc, char **argv, bool *report);

/* Ends the process with exit code 2 and "emu: sentence". */
__attribute__((format(printf, 1, 2), noreturn)) void emu_refuse(const char *format, ...);

/* Prints "emu: sentence" on stderr. */
__attribute__((format(printf, 1, 2))) void emu_note(const char *format, ...);

/* A text that is printed so, to be freed. */
__attribute__((format(printf, 1, 2))) char *emu_text(const char *format, ...);

/* Sets an environment variable. */
void emu_set(const char *name, const char *value);

#endif

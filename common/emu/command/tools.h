/*
 * tools.h — what the command emu changes of the words of nvcc and of linkers below `emu make`, so
 * that makefiles written for older toolkits, and for GPUs, make programs for the emulator.
 */
#ifndef EMU_TOOLS_H
#define EMU_TOOLS_H

/* words[0] is the path of nvcc or of a linker, and what follows are its own words, from argv[0] on.
 * Becomes this program, with words that may be changed. */
_Noreturn void emu_start_tool(char **words);

/* Says a sentence on stderr: once for all tools below a command, when the command has ended. */
__attribute__((format(printf, 1, 2))) void emu_say_change(const char *format, ...);

#endif

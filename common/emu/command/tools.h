/* tools.h — the checkers' names, for the command emu and for EMU_TOOL. */
#ifndef EMU_CHECK_TOOLS_H
#define EMU_CHECK_TOOLS_H

/* The bits (enum emu_check) of "memcheck,racecheck"; 0 if one of the names is unknown. */
unsigned check_tools(const char *names);

#endif

#define _GNU_SOURCE /* program_invocation_short_name, syscall */
#include "allocated.h"
#include "files.h"
#include "visible.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS = 2 }; /* as for options that ask for too much */

/* Ends without destructors and without the emulator's reports: they need memory, and locks that
 * this thread may hold. */
_Noreturn static void end(void)
{
#ifdef __wasm__
    exit(STATUS);
#else
    replacement_drop_all();
    for (;;) syscall(SYS_exit_group, STATUS);
#endif
}

void *allocated(void *memory)
{
    char program[NAME_MAX + 1];
    if (memory != NULL) return memory;
    fflush(stdout);
    visible(program, sizeof program, program_invocation_short_name);
    fprintf(stderr, "%s: the host has no memory left; take smaller data, or raise ulimit -v\n",
            program);
    end();
}

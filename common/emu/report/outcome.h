/*
 * outcome.h — what the command emu finds out about a program however it ends, even by SIGKILL: the
 * program (runtime/parent.c) maps a file in memory, whose name in /proc is in EMU_OUTCOME.
 */
#ifndef EMU_OUTCOME_H
#define EMU_OUTCOME_H

#include <stdatomic.h>

struct outcome {
    atomic_ulong errors;    /* that the exit code depends on */
    atomic_bool is_written; /* the reports; or the program has said why they are not */
    atomic_bool has_run;    /* a kernel, or a function of the emulator's libraries */
    atomic_bool is_fresh;   /* what a copy has taken to the host: nothing had been stored there */
};

#endif

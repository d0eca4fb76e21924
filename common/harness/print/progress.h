/*
 * progress.h — how far work is that takes longer than two seconds: a bar on a terminal, plain lines
 * if stderr is a file or a pipe. A thread of its own draws, so that a bar also moves during one
 * long emulated launch. EMU_PROGRESS=0 in the environment turns the lines off.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Is anything said of long work? On a terminal always, otherwise unless EMU_PROGRESS=0. */
bool progress_is_wanted(void);

/* Starts to show `label` (not copied) with `total` units of work ahead; 0: unknown. */
void progress_begin(const char *label, size_t total);
/* `done` units of the work are done. A call takes little time. */
void progress_at(size_t done);
/* Removes the bar from the terminal. Lines stay. */
void progress_end(void);

#endif

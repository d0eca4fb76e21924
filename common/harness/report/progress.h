/*
 * progress.h — a progress bar on the terminal for work that takes longer than two seconds. A
 * thread of its own draws the bar, so that it also moves during one long emulated launch. Nothing
 * is drawn if stderr is not a terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

/* Starts to show `label` (not copied) with `total` units of work ahead; 0: unknown. */
void progress_begin(const char *label, size_t total);
/* `done` units of the work are done. A call takes little time. */
void progress_at(size_t done);
/* Removes the bar from the terminal. */
void progress_end(void);

#endif

/*
 * progress.h — a bar on the terminal for whatever takes longer than two seconds. It is drawn by a
 * thread of its own, so that it also moves while one long launch is being emulated. Nothing is
 * drawn where stderr is no terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

/* Starts to show `label` (not copied) with `total` units of work ahead; 0: unknown. */
void progress_begin(const char *label, size_t total);
/* So much of it is done. Cheap. */
void progress_at(size_t done);
/* Wipes the bar away. */
void progress_end(void);

#endif

/* deadlock.h — when no thread can go on. */
#ifndef EMU_DEADLOCK_H
#define EMU_DEADLOCK_H

#include "machine.h"

/* Ends the launch with an error that says who waits for whom, or, if that is allowed, lets a
 * barrier go without the threads that have exited. */
void deadlock_resolve(struct cluster *);
/* Ends the launch with an error, a sentence that says why, and where a thread of the cluster is: one
 * that runs if there is any. All but an interrupt is a finding, too. */
void give_up_cluster(struct cluster *, int error, const char *why);

#endif

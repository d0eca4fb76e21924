/* deadlock.h — ends a launch whose threads cannot or may not go on. */
#ifndef EMU_DEADLOCK_H
#define EMU_DEADLOCK_H

#include "machine.h"

/* No thread of the cluster can go on. Ends the launch with an error that says which threads wait
 * for which. If the program allows it, releases a barrier without the threads that have exited. */
void deadlock_resolve(struct cluster *);
/* Ends the launch with an error, the reason `why`, and the place of a thread of the cluster: one
 * that runs, if there is one. Except for an interrupt, it is also a finding. */
void give_up_cluster(struct cluster *, int error, const char *why);
/* Ends the launch with a sentence that names the kernel and no place in it. It is a finding. */
void give_up_launch(struct launch *, int error, const char *sentence);

/* ---- deadlock_picture.c: where each lane of a cluster waits, for the message of a deadlock --- */

/*
 *   block (0,0,0):
 *     warp 0     ################................  scan.cu:12  waits at barrier 0 (16 of 64)
 *                ................################  scan.cu:15  waits for lanes 0x0000ffff
 *     warp 1     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited
 *
 * A lane is one character, lane 0 first. Warps with equal lines are drawn once: "warps 1-31".
 */

/* Draws into `text`, each line after `indent` spaces. A picture that does not fit is cut, and says
 * so. */
void deadlock_picture_draw(const struct cluster *, int indent, char *text, size_t size);

#endif

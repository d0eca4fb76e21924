/*
 * deadlock_picture.h — a picture of where each lane of a cluster waits, for the message of a
 * deadlock.
 *
 *   block (0,0,0):
 *     warp 0     ################................  scan.cu:12  waits at barrier 0 (16 of 64)
 *                ................################  scan.cu:15  waits for lanes 0x0000ffff
 *     warp 1     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited
 *
 * A lane is one character, lane 0 first. Warps with equal lines are drawn once: "warps 1-31".
 */
#ifndef EMU_DEADLOCK_PICTURE_H
#define EMU_DEADLOCK_PICTURE_H

#include "common/emu/machine/machine.h"

/* Draws into `text`, each line behind `indent` spaces. A picture that does not fit is cut, and says
 * so. */
void deadlock_picture_draw(const struct cluster *, int indent, char *text, size_t size);

#endif

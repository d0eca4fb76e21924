/*
 * deadlock_picture.h — a picture of who waits where, for deadlocks.
 *
 *   block (0,0,0):
 *     warp 0     ################................  scan.cu:12  waits at barrier 0 (16 of 64)
 *                ................################  scan.cu:15  waits for lanes 0x0000ffff
 *     warp 1     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited
 *
 * A character a lane, lane 0 first. Warps that look alike share their lines: "warps 1-31".
 */
#ifndef EMU_DEADLOCK_PICTURE_H
#define EMU_DEADLOCK_PICTURE_H

#include "machine.h"

/* Every line with that many spaces in front; what does not fit is left out, and that is said. */
void deadlock_picture_draw(const struct cluster *, int indent, char *text, size_t size);

#endif

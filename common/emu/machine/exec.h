/* exec.h — the interpreter: runs the instructions of one warp. */
#ifndef EMU_EXEC_H
#define EMU_EXEC_H

#include "machine.h"

enum warp_stop {
    WARP_DONE,       /* every lane has exited */
    WARP_WAITS,      /* no lane can go on until another warp does something */
    WARP_SLICE_OVER, /* its time slice is used up */
    WARP_FAULT,
};

/* Gives a warp a new time slice; the rest of its last one is lost. */
void warp_grant(struct warp *, uint64_t instructions);
/* Runs a warp until its slice is used up, or until no lane can go on. */
enum warp_stop warp_run(struct warp *);

#endif

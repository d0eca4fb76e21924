/* exec.h — the interpreter's loop. */
#ifndef EMU_EXEC_H
#define EMU_EXEC_H

#include "machine.h"

enum warp_stop {
    WARP_DONE,       /* every lane has exited */
    WARP_WAITS,      /* no lane can go on before another warp does something */
    WARP_SLICE_OVER, /* its time slice is used up */
    WARP_FAULT,
};

/* Gives a warp a time slice in place of what is left of its last one. */
void warp_grant(struct warp *, uint64_t instructions);
/* Runs a warp until its slice is used up, at the latest. */
enum warp_stop warp_run(struct warp *);

#endif

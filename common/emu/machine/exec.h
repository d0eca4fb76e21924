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

/* Runs a warp for at most `instructions`. */
enum warp_stop warp_run(struct warp *, uint64_t instructions);

#endif

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

/* A fragment has come to a barrier: in sched.c, because it concerns the block. It may release every
 * fragment that waits there, this one too. */
void barrier_arrive(struct warp *, struct fragment *, const struct insn *, bool waits);

#endif

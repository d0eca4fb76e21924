/*
 * frame.h — calls of functions that nvcc did not inline.
 *
 * Lanes that make a call together share a frame: registers, and an area for parameters and results.
 * A fragment belongs to one frame; two fragments merge only if they are in the same frame. Of
 * several fragments the one with the deepest call runs first, so that lanes behind the call wait
 * for those inside of it.
 */
#ifndef EMU_FRAME_H
#define EMU_FRAME_H

#include "machine.h"
#include <string.h>

/* Lanes of a fragment enter the called function. The fragment's other lanes wait behind the
 * call. */
void frame_call(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lanes of a fragment return behind their call. */
void frame_return(struct warp *, struct fragment *, uint32_t lanes);
/* An operand of any fragment, not only of the one that runs. */
void *frame_slot(const struct warp *, const struct fragment *, slot);
/* A warp begins in a kernel that uses alloca: its stack is empty. */
void frame_start(struct warp *);
/* Adds and removes a fragment of a frame. */
void frame_hold(struct frame *);
void frame_release_call(struct frame *);
static inline void frame_release(struct frame *frame)
{
    if (frame->caller) frame_release_call(frame); /* the warp owns the root frame */
}
/* Frames of calls that are over are kept for later calls of their warp; this frees them. */
void frame_free_unused(struct warp *);

/* Copies an argument, a result or a part of one. It may have any size and alignment, but is nearly
 * always one or two words. */
static inline void copy_few(void *to, const void *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

#endif

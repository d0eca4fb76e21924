/*
 * frame.h — calls of functions that nvcc did not inline.
 *
 * Lanes that call together share a frame: registers, and an area for parameters and results. A
 * fragment belongs to one frame, and two fragments merge only in the same one. Of several the
 * deepest runs first, so that lanes wait behind the call for those still inside.
 */
#ifndef EMU_FRAME_H
#define EMU_FRAME_H

#include "machine.h"
#include <string.h>

/* Lanes of a fragment enter the function that the instruction calls; the others wait behind it. */
void frame_call(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lanes of a fragment return to behind their call. */
void frame_return(struct warp *, struct fragment *, uint32_t lanes);
/* An operand of a fragment that need not be the one that runs. */
void *frame_slot(const struct warp *, const struct fragment *, slot);
/* A warp begins: the kernel's own stack is empty. */
void frame_start(struct warp *);
/* A fragment begins or ceases to be in a frame. */
void frame_hold(struct frame *);
void frame_release(struct frame *);

/* Copies an argument, a result or a part of one: of any size and alignment, and nearly always a
 * word or two. */
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

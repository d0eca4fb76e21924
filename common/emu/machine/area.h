/*
 * area.h — a frame's area: the parameters and results of calls, area_bytes bytes for each lane.
 *
 * The bytes lie as registers do: word n of all 32 lanes is row n. So a parameter of 4 or 8 bytes
 * moves as vectors. A lane's bytes are not contiguous.
 */
#ifndef EMU_AREA_H
#define EMU_AREA_H

#include "machine.h"

enum { AREA_WORD = 4 }; /* bytes of a lane in one row */

/* The row with a lane's bytes from `offset` on, up to the next multiple of AREA_WORD. */
static inline void *area_row(const struct frame *frame, size_t offset)
{
    return frame->area + offset / AREA_WORD * (AREA_WORD * WARP);
}

/* Moves the bytes of one lane, at any offset. */
void area_read(const struct frame *, int lane, size_t offset, void *to, size_t bytes);
void area_write(const struct frame *, int lane, size_t offset, const void *from, size_t bytes);
/* Copies the bytes of the lanes from one area to another one. */
void area_copy(const struct frame *to, size_t to_offset, const struct frame *from,
               size_t from_offset, size_t bytes, uint32_t lanes);

#endif

/*
 * local.h — where the bytes of a warp's local memories are in host memory.
 *
 * As on a GPU, word n of the 32 lanes lies side by side: an access of all lanes to one variable is
 * a row of words. So a lane's bytes are contiguous only inside of a word.
 */
#ifndef EMU_LOCAL_H
#define EMU_LOCAL_H

#include "machine.h"

enum {
    LOCAL_WORD = 4,                /* bytes */
    LOCAL_ROW = LOCAL_WORD * WARP, /* from one word of a lane to its next one */
};

/* The host bytes of a warp's local memories. */
static inline size_t local_warp_bytes(const struct emu_kernel *kernel)
{
    return (kernel->stack_bytes + LOCAL_WORD - 1) / LOCAL_WORD * LOCAL_ROW;
}

/* The place of a lane's byte, from w->local on. */
static inline uint64_t local_place(uint64_t offset, int lane)
{
    return offset / LOCAL_WORD * LOCAL_ROW + (unsigned)lane * LOCAL_WORD + offset % LOCAL_WORD;
}

static inline uint8_t *local_byte(const struct warp *w, uint64_t offset, int lane)
{
    return w->local + local_place(offset, lane);
}

#endif

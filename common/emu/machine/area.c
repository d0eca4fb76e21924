#include "area.h"
#include <string.h>

static uint8_t *byte_at(const struct frame *frame, int lane, size_t offset)
{
    return (uint8_t *)area_row(frame, offset) + (size_t)lane * AREA_WORD + offset % AREA_WORD;
}

void area_read(const struct frame *frame, int lane, size_t offset, void *to, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++) ((uint8_t *)to)[k] = *byte_at(frame, lane, offset + k);
}

void area_write(const struct frame *frame, int lane, size_t offset, const void *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        *byte_at(frame, lane, offset + k) = ((const uint8_t *)from)[k];
}

/* Four lanes of a row. */
typedef uint32_t quad __attribute__((vector_size(16), aligned(4), may_alias));
enum { QUAD = 4 };

static void copy_row(void *to, const void *from, uint32_t lanes)
{
    if (lanes == ALL_LANES) {
        memcpy(to, from, AREA_WORD * WARP);
        return;
    }
    const quad *source = from, bits = {1, 2, 4, 8};
    quad *target = to;
    for (int k = 0; k < WARP / QUAD; k++) {
        quad keep = (quad)((bits << QUAD * k & lanes) == 0);
        target[k] = (target[k] & keep) | (source[k] & ~keep);
    }
}

void area_copy(const struct frame *to, size_t to_offset, const struct frame *from,
               size_t from_offset, size_t bytes, uint32_t lanes)
{
    size_t copied = 0;
    if (to_offset % AREA_WORD == 0 && from_offset % AREA_WORD == 0)
        for (; bytes - copied >= AREA_WORD; copied += AREA_WORD)
            copy_row(area_row(to, to_offset + copied), area_row(from, from_offset + copied), lanes);
    for (uint32_t left = copied < bytes ? lanes : 0; left; left &= left - 1)
        for (size_t k = copied; k < bytes; k++)
            *byte_at(to, __builtin_ctz(left), to_offset + k) =
                *byte_at(from, __builtin_ctz(left), from_offset + k);
}

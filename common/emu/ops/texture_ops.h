/*
 * texture_ops.h — what ops_texture.c and ops_surface.c share. Both are compiled for several
 * instruction sets.
 */
#ifndef EMU_TEXTURE_OPS_H
#define EMU_TEXTURE_OPS_H

#include "common/emu/machine/device.h"
#include "ops_access.h"

/* The axes that are filtered, and whether a layer comes first among the coordinates. */
static inline unsigned texture_axes(enum emu_texture_shape shape)
{
    static const uint8_t axes[EMU_TEXTURE_SHAPES] = {1, 1, 2, 3, 1, 2, 2, 2};
    return axes[shape];
}

static inline bool texture_is_layered(enum emu_texture_shape shape)
{
    return shape == EMU_TEXTURE_1D_LAYERED || shape == EMU_TEXTURE_2D_LAYERED ||
           shape == EMU_TEXTURE_CUBE_LAYERED;
}

/* Takes the lanes out of *left whose object is that of its first lane. Returns them. */
static inline uint32_t texture_take_lanes(const struct warp *w, const struct insn *i,
                                          uint32_t *left)
{
    const lane_64 *object = LANES(u64, i->texture.object);
    uint64_t first = object[__builtin_ctz(*left)];
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++) lanes |= (uint32_t)(object[l] == first) << l;
    lanes &= *left;
    *left &= ~lanes;
    return lanes;
}

/* The object of these lanes, or NULL after a fault: it does not exist, or does not fit. */
const struct emu_texture *EMU_PASTE(texture_object_, EMU_ISA)(struct warp *, const struct insn *,
                                                              uint32_t lanes);
#define texture_object EMU_PASTE(texture_object_, EMU_ISA)

/* Passes the door with one address per lane of *left. Returns the lanes that it lets through, which
 * it takes out of *left; 0 after a fault. */
static inline uint32_t texture_enter(struct warp *w, const struct insn *i, struct access *access,
                                     const uint64_t *address, uint32_t *left)
{
    uint64_t first = address[__builtin_ctz(*left)];
    for (int l = 0; l < WARP; l++) access->address[l] = *left >> l & 1 ? address[l] : first;
    access->mask = *left;
    access->space = PTX_GLOBAL;
    uint32_t entered = access_door(w, i, access);
    *left &= ~entered;
    return entered;
}

#endif

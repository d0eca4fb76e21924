/*
 * ops_surface.c — reads and writes of surfaces (PTX ISA, "suld", "sust"). The first coordinate is
 * in bytes, and the bytes there are accessed as they are.
 */
#include "texture_ops.h"

/* Where a lane accesses a surface. */
struct spot {
    int64_t at[3]; /* in bytes, rows and slices; a layer is a slice */
    bool is_inside;
    unsigned axis; /* in which it is outside, and its coordinate there */
    int64_t outside;
};

/* The spot of a lane's access; if it is outside, its coordinates are those nearest to it. */
static struct spot spot_of(const struct warp *w, const struct insn *i, const struct emu_texture *t,
                           int lane)
{
    struct spot spot = {.is_inside = true};
    const slot *coordinate = i->texture.coordinate;
    unsigned axes = i->texture.shape == EMU_TEXTURE_3D ? 3 : texture_axes(t->shape);
    int64_t bytes = (int64_t)i->element_bytes * i->elements;
    if (texture_is_layered((enum emu_texture_shape)i->texture.shape))
        spot.at[2] = (int32_t)LANES(u32, *coordinate++)[lane];
    for (unsigned k = 0; k < axes; k++) spot.at[k] = (int32_t)LANES(u32, coordinate[k])[lane];
    for (unsigned k = 0; k < 3; k++) {
        int64_t size = (int64_t)t->size[k];
        int64_t last = k ? size - 1 : size * t->channels * t->channel_bytes - bytes;
        int64_t nearest = spot.at[k] < 0 ? 0 : spot.at[k] > last ? last : spot.at[k];
        if (nearest == spot.at[k]) continue;
        spot.is_inside = false;
        spot.axis = k;
        spot.outside = spot.at[k];
        spot.at[k] = nearest;
    }
    return spot;
}

/* The first byte of a lane's access, as the instruction names it. */
static int byte_of(const struct warp *w, const struct insn *i, int lane)
{
    bool is_layered = texture_is_layered((enum emu_texture_shape)i->texture.shape);
    return (int32_t)LANES(u32, i->texture.coordinate[is_layered])[lane];
}

static void report_misaligned(struct warp *w, const struct insn *i, int lane, unsigned bytes)
{
    fault(w, i, lane, EMU_MISALIGNED_ADDRESS,
          "byte %d of a surface's row is not a multiple of the %u bytes accessed; its first "
          "coordinate counts bytes, not elements",
          byte_of(w, i, lane), bytes);
}

static void report_outside(struct warp *w, const struct insn *i, const struct emu_texture *t,
                           int lane, const struct spot *spot)
{
    static const char *const axes[] = {"byte in the row", "row", "slice or layer"};
    fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
          "%s of %u bytes is outside of a surface of %llu bytes x %llu x %llu: its %s is %lld",
          i->texture.stores ? "a store" : "a load", i->element_bytes * i->elements,
          (unsigned long long)(t->size[0] * t->channels * t->channel_bytes),
          (unsigned long long)t->size[1], (unsigned long long)t->size[2], axes[spot->axis],
          (long long)spot->outside);
}

/* Computes the lanes' addresses, and takes those lanes out of *lanes that are outside and access
 * nothing. False: a fault. */
static bool take_spots(struct warp *w, const struct insn *i, const struct emu_texture *t,
                       uint64_t *address, uint32_t *lanes)
{
    unsigned bytes = (unsigned)i->element_bytes * i->elements;
    for (uint32_t left = *lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        struct spot spot = spot_of(w, i, t, l);
        if (byte_of(w, i, l) & (int)(bytes - 1)) {
            report_misaligned(w, i, l, bytes);
            return false;
        }
        if (!spot.is_inside && i->texture.boundary == BOUNDARY_TRAP) {
            report_outside(w, i, t, l, &spot);
            return false;
        }
        if (!spot.is_inside && i->texture.boundary == BOUNDARY_ZERO) *lanes &= ~(left & -left);
        address[l] = t->base + (uint64_t)spot.at[0] + (uint64_t)spot.at[1] * t->row +
                     (uint64_t)spot.at[2] * t->slice;
    }
    return true;
}

static void move_lane(const struct warp *w, const struct insn *i, int lane, char *there)
{
    for (unsigned k = 0; k < i->elements; k++, there += i->element_bytes) {
        slot s = i->texture.value[k];
        if (i->texture.stores)
            store_element(there, get_lane(w, s, i->lane_bytes, lane), i->element_bytes);
        else if (s != NO_SLOT)
            set_lane(w, s, i->lane_bytes, lane, load_element(there, i->element_bytes, false));
    }
}

static void clear_lanes(const struct warp *w, const struct insn *i, uint32_t lanes)
{
    for (unsigned k = 0; k < i->elements && !i->texture.stores; k++)
        if (i->texture.value[k] != NO_SLOT)
            EACH_LANE(lanes, set_lane(w, i->texture.value[k], i->lane_bytes, l, 0));
}

/* Accesses the surface of the lanes that have one object. False: a fault. */
static bool access_object(struct warp *w, const struct insn *i, uint32_t lanes)
{
    uint64_t address[WARP];
    uint32_t left = lanes;
    struct access access;
    const struct emu_texture *t = texture_object(w, i, lanes);
    if (!t || !take_spots(w, i, t, address, &left)) return false;
    clear_lanes(w, i, lanes & ~left);
    access_make(&access, i->texture.stores ? OPERATION_STORE : OPERATION_LOAD, PTX_GLOBAL, lanes,
                (unsigned)i->element_bytes * i->elements);
    while (left) {
        uint32_t entered = texture_enter(w, i, &access, address, &left);
        if (!entered) return false;
        EACH_LANE(entered,
                  move_lane(w, i, l, (char *)(uintptr_t)(access.host + access.address[l])));
    }
    return true;
}

static void access_surface(struct warp *w, const struct insn *i, uint32_t mask)
{
    while (mask)
        if (!access_object(w, i, texture_take_lanes(w, i, &mask))) return;
    if (i->texture.stores) w->block->changed = true;
}

static const struct op surface_entries[] = {{"suld", access_surface, ""},
                                            {"sust", access_surface, ""}};
DEFINE_OP_TABLE(ops_surface, surface_entries);

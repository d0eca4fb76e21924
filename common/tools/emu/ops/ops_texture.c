/* ops_texture.c — textures and surfaces. */
#include "ops_memory.h"
#include <float.h>
#include <math.h>

/* ---- reads of textures ----------------------------------------------------------------------- */

/* Reads of textures (PTX ISA, "tex", "tld4"), by the formulas of the CUDA
 * C++ Programming Guide, "Texture Fetching".
 *
 * A filtered read is a weighted sum of 2, 4 or 8 elements. How weights and sums are rounded is not
 * documented: here it is done as an H200 does it (notes/more/emulator-inside.md). */

enum { ONE = 256, CHANNELS = 4 }; /* ONE is the weight 1 */
enum { F16_DIGITS = 11 };
#define F16_LEAST 0x1p-24 /* the distance between neighbouring halves near 0 */

/* Where a lane reads: the first element along each axis, which may be outside the texture, and the
 * weight of the next one. In a texture with layers or faces, at[2] is the layer or face. */
struct sample {
    int64_t at[3];
    int weight[3];
};

/* ---- objects --------------------------------------------------------------------------------- */

static bool fits(const struct emu_texture *t, const struct insn *i)
{
    enum emu_texture_shape shape = (enum emu_texture_shape)i->texture.shape;
    bool is_layers = shape == EMU_TEXTURE_2D_LAYERED && t->is_surface;
    if (t->shape == EMU_TEXTURE_LINEAR) return shape == EMU_TEXTURE_1D && i->texture.by_integers;
    /* Faces of a cube are layers of a surface. */
    return t->shape == shape || (is_layers && t->shape >= EMU_TEXTURE_CUBE);
}

const struct emu_texture *texture_object(struct warp *w, const struct insn *i, uint32_t lanes)
{
    static const char *const shapes[EMU_TEXTURE_SHAPES] = {"linear memory, which tex1Dfetch reads",
                                                           "one-dimensional",
                                                           "two-dimensional",
                                                           "three-dimensional",
                                                           "one-dimensional with layers",
                                                           "two-dimensional with layers",
                                                           "a cube",
                                                           "a cube with layers"};
    const struct emu *emu = w->block->launch->emu;
    int lane = __builtin_ctz(lanes);
    uint64_t object = LANES(u64, i->texture.object)[lane];
    const struct emu_texture *t = device_texture(emu, object);
    bool surface = i->source->words[0][0] == 's';
    const char *kind = surface ? "surface" : "texture";
    if (!t)
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS, "0x%llx is no %s object: %s",
              (unsigned long long)object, kind, device_describe_object(emu, object));
    else if (t->is_surface != surface)
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS, "0x%llx is a %s object, not a %s object",
              (unsigned long long)object, surface ? "texture" : "surface", kind);
    else if (!fits(t, i))
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "the instruction is for a %s that is %s, but the object is %s", kind,
              shapes[i->texture.shape], shapes[t->shape]);
    else
        return t;
    return NULL;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* The number that stands for 1 in a filter. Filters compute fractions as integers of 16 bits. */
static float filter_one(const struct emu_texture *t)
{
    if (!t->reads_fractions) return 1;
    return t->channel == EMU_CHANNEL_SIGNED ? INT16_MAX : UINT16_MAX;
}

/* What a register gets for a channel's bits. For a filter: a float, 1 being filter_one(). */
static uint32_t channel_value(const struct emu_texture *t, uint32_t bits, bool filters)
{
    bool is_byte = t->channel_bytes == 1, is_signed = t->channel == EMU_CHANNEL_SIGNED;
    if (t->channel == EMU_CHANNEL_FLOAT)
        return t->channel_bytes == 2 ? bits_of_f32(f32_of_f16((uint16_t)bits)) : bits;
    if (t->channel_bytes == 4) return bits;
    int32_t value = !is_signed ? (int32_t)bits : is_byte ? (int8_t)bits : (int16_t)bits;
    if (!t->reads_fractions) return (uint32_t)value;
    float most = (float)((is_byte ? UINT8_MAX : UINT16_MAX) >> is_signed);
    if (filters) return bits_of_f32((float)value * (filter_one(t) / most));
    float fraction = (float)value / most;
    return bits_of_f32(fraction < -1 ? -1 : fraction);
}

/* Reads one element for each lane of `lanes`. False: a fault. */
static bool read_elements(struct warp *w, const struct insn *i, const struct emu_texture *t,
                          const uint64_t *address, uint32_t lanes, bool filters,
                          uint32_t (*value)[CHANNELS])
{
    struct access access;
    access_make(&access, OPERATION_LOAD, PTX_GLOBAL, lanes, t->channels * t->channel_bytes);
    while (lanes) {
        uint32_t entered = texture_enter(w, i, &access, address, &lanes);
        if (!entered) return false;
        for (; entered; entered &= entered - 1) {
            int l = __builtin_ctz(entered);
            const char *from = (const char *)(uintptr_t)(access.host + access.address[l]);
            for (unsigned c = 0; c < t->channels; c++, from += t->channel_bytes)
                value[l][c] = channel_value(
                    t, (uint32_t)load_element(from, t->channel_bytes, false), filters);
        }
    }
    return true;
}

/* The element that is read instead of the element `at` of an axis; -1: the border's colour. */
static int64_t inside(const struct emu_texture *t, unsigned axis, int64_t at)
{
    int64_t size = (int64_t)t->size[axis];
    if (at >= 0 && at < size) return at;
    switch (t->outside[axis]) {
    case EMU_OUTSIDE_WRAP: return (at % size + size) % size;
    case EMU_OUTSIDE_MIRROR:
        at = (at % (2 * size) + 2 * size) % (2 * size);
        return at < size ? at : 2 * size - 1 - at;
    case EMU_OUTSIDE_BORDER: return -1;
    default: return at < 0 ? 0 : size - 1;
    }
}

/* Reads the element at a corner of each lane's sample. Bit k of the corner's number says whether it
 * is the first or the next element along axis k. Lanes outside read the border. */
static bool read_corner(struct warp *w, const struct insn *i, const struct emu_texture *t,
                        const struct sample *samples, unsigned corner, uint32_t lanes, bool filters,
                        uint32_t (*value)[CHANNELS])
{
    uint64_t address[WARP], step[3] = {(uint64_t)t->channels * t->channel_bytes, t->row, t->slice};
    unsigned axes = texture_axes(t->shape);
    uint32_t border = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        address[l] = t->base;
        for (unsigned k = 0; k < 3; k++) {
            int64_t at = samples[l].at[k] + (corner >> k & 1);
            if (k < axes) at = inside(t, k, at);
            if (at < 0) border |= UINT32_C(1) << l;
            address[l] += (uint64_t)at * step[k];
        }
        for (unsigned c = 0; c < t->channels && border >> l & 1; c++)
            value[l][c] = bits_of_f32(t->border[c] * (filters ? filter_one(t) : 1));
    }
    return read_elements(w, i, t, address, lanes & ~border, filters, value);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* A coordinate in elements. Wrapping and mirroring first take away whole periods. */
static double in_elements(const struct emu_texture *t, unsigned axis, double x)
{
    const double far = 1 << 30; /* beyond every texture */
    double size = (double)t->size[axis];
    if (t->is_normalized) {
        if (t->outside[axis] == EMU_OUTSIDE_WRAP) x -= floor(x);
        if (t->outside[axis] == EMU_OUTSIDE_MIRROR) x -= 2 * floor(x / 2);
        x *= size;
    }
    return x > -far ? (x < far ? x : far) : x != x ? 0 : -far;
}

/* Sets the sample along one axis. With `pair`, it is the two elements around the coordinate, else
 * the nearest one. */
static void sample_axis(const struct emu_texture *t, unsigned axis, double x, bool pair,
                        struct sample *s)
{
    double place = in_elements(t, axis, x) - (pair ? 0.5 : 0), first = floor(place);
    bool is_beyond = first < 0 || first >= (double)t->size[axis] - 1; /* clamped: one element */
    int weight = pair ? (int)floor((place - first) * ONE + 0.5) : 0;
    s->at[axis] = (int64_t)first + (weight == ONE);
    if (!(is_beyond && t->outside[axis] == EMU_OUTSIDE_CLAMP)) s->weight[axis] = weight % ONE;
}

/* The face of a cube to which a direction points, and the place there, from 0 to 1. On an edge it
 * is the face of z if that is one of the two, else that of y. */
static int cube_face(const double *v, double *place)
{
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    bool back = v[axis] < 0;
    double most = axis == 0 ? x : axis == 1 ? y : z, side[2];
    side[0] = axis == 0 ? (back ? v[2] : -v[2]) : axis == 2 && back ? -v[0] : v[0];
    side[1] = axis != 1 ? -v[1] : back ? -v[2] : v[2];
    for (int k = 0; k < 2; k++) place[k] = ((most > 0 ? side[k] / most : 0) + 1) / 2;
    return 2 * axis + back;
}

/* The sample of one lane. */
static void take_sample(const struct warp *w, const struct insn *i, const struct emu_texture *t,
                        int lane, bool pair, struct sample *s)
{
    const slot *coordinate = i->texture.coordinate;
    unsigned axes = texture_axes(t->shape), count = t->shape >= EMU_TEXTURE_CUBE ? 3 : axes;
    uint64_t last_layer = t->size[2] - 1, layer = 0;
    double x[3], place[2];
    if (texture_is_layered(t->shape)) layer = LANES(u32, *coordinate++)[lane];
    if (i->texture.by_integers)
        for (unsigned k = 0; k < count; k++) x[k] = (int32_t)LANES(u32, coordinate[k])[lane];
    else
        for (unsigned k = 0; k < count; k++) x[k] = LANES(f32, coordinate[k])[lane];
    *s = (struct sample){0};
    if (t->shape >= EMU_TEXTURE_CUBE) {
        enum { FACES = 6 };
        int face = cube_face(x, place);
        last_layer = last_layer / FACES;
        s->at[2] = (int64_t)(layer < last_layer ? layer : last_layer) * FACES + face;
        for (unsigned k = 0; k < axes; k++) sample_axis(t, k, place[k], pair, s);
        return;
    }
    if (axes < 3) s->at[2] = (int64_t)(layer < last_layer ? layer : last_layer);
    for (unsigned k = 0; k < axes; k++) sample_axis(t, k, x[k], pair, s);
    if (t->shape == EMU_TEXTURE_1D && pair && t->outside[1] == EMU_OUTSIDE_BORDER)
        s->at[1] = -1, s->weight[1] = ONE / 2; /* the unit filters along y, too, at y = 0 */
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* The fraction part / ONE of a weight, rounded; halves are rounded up. */
static int part_of(int weight, int part) { return (weight * part + ONE / 2) / ONE; }

/* The weights of the corners, which are integers with the sum ONE. ONE is divided along z, its
 * parts along x, and their parts along y. At each division one part is rounded, and the other is
 * the rest. */
static void corner_weights(const struct sample *s, int *weight)
{
    for (int z = 0; z < 2; z++) {
        int whole = z ? s->weight[2] : ONE - s->weight[2], *plane = weight + 4 * z;
        int right = part_of(whole, s->weight[0]), left = whole - right;
        plane[3] = part_of(right, s->weight[1]);
        plane[1] = right - plane[3];
        plane[0] = part_of(left, ONE - s->weight[1]);
        plane[2] = left - plane[0];
    }
}

/* The nearest float with `precision` binary digits; of two that are equally near, the one farther
 * from 0. All these digits of a NaN are 1. A number below FLT_MIN becomes 0. */
static float nearest(double sum, int precision)
{
    uint64_t bits, half = UINT64_C(1) << (DBL_MANT_DIG - precision - 1);
    if (isnan(sum))
        return f32_of_bits(0x7fffffff >> (FLT_MANT_DIG - precision) << (FLT_MANT_DIG - precision));
    memcpy(&bits, &sum, sizeof bits);
    if (isfinite(sum)) bits += half;
    bits &= ~(2 * half - 1);
    memcpy(&sum, &bits, sizeof sum);
    return fabs(sum) < (double)FLT_MIN ? copysignf(0, (float)sum) : (float)sum;
}

/* What a read returns for a weighted sum. A sum of fractions is rounded to a 16-bit fraction. */
static float filtered(const struct emu_texture *t, double sum)
{
    bool is_half = t->channel == EMU_CHANNEL_FLOAT && t->channel_bytes == 2;
    if (is_half && fabs(sum) < F16_LEAST * (1 << (F16_DIGITS - 1)))
        return (float)(round(sum / F16_LEAST) * F16_LEAST);
    if (!t->reads_fractions) return nearest(sum, is_half ? F16_DIGITS : FLT_MANT_DIG);
    double fraction = floor(sum + 0.5) / (double)filter_one(t);
    return (float)(fraction < -1 ? -1 : fraction);
}

/* Is the weight of a corner along each axis above 0? Their product may still be rounded to 0. */
static bool touches(const struct sample *s, unsigned corner)
{
    for (unsigned k = 0; k < 3; k++)
        if (s->weight[k] == 0 && corner >> k & 1) return false;
    return true;
}

static double weighted(int weight, double value)
{
    return isfinite(value) ? weight * value : value;
}

/* The weighted sum of all corners. An element of which the filter takes nothing is not read. With a
 * weight that is rounded to 0, an infinity or a NaN counts. */
static bool filter(struct warp *w, const struct insn *i, const struct emu_texture *t,
                   const struct sample *samples, uint32_t lanes, uint32_t (*value)[CHANNELS])
{
    enum { CORNERS = 8 };
    double sum[WARP][CHANNELS] = {{0}};
    int weight[WARP][CORNERS] = {{0}};
    EACH_LANE(lanes, corner_weights(&samples[l], weight[l]));
    for (unsigned corner = 0; corner < CORNERS; corner++) {
        uint32_t part = 0;
        EACH_LANE(lanes, part |= (uint32_t)touches(&samples[l], corner) << l);
        if (!read_corner(w, i, t, samples, corner, part, true, value)) return false;
        EACH_LANE(part, for (unsigned c = 0; c < t->channels; c++) sum[l][c] +=
                        weighted(weight[l][corner], (double)f32_of_bits(value[l][c])));
    }
    EACH_LANE(lanes, for (unsigned c = 0; c < t->channels; c++) value[l][c] =
                         bits_of_f32(filtered(t, sum[l][c] / ONE)));
    return true;
}

/* What tld4 makes of an element. A float passes the filter's last step; a signed byte that is read
 * as a fraction gets 16 bits, about value / 127 * INT16_MAX. */
static uint32_t gathered(const struct emu_texture *t, uint32_t bits)
{
    bool is_byte = t->channel == EMU_CHANNEL_SIGNED && t->channel_bytes == 1;
    if (t->channel == EMU_CHANNEL_FLOAT) return bits_of_f32(filtered(t, (double)f32_of_bits(bits)));
    if (!is_byte || !t->reads_fractions) return bits;
    int value = (int)(f32_of_bits(bits) * INT8_MAX);
    int wide = 258 * value + (value >= 64) - (value < -64);
    return bits_of_f32((float)wide / INT16_MAX);
}

/* tld4: one channel of four elements, in the order that the PTX ISA gives. */
static bool gather(struct warp *w, const struct insn *i, const struct emu_texture *t,
                   const struct sample *samples, uint32_t lanes, uint32_t (*value)[CHANNELS])
{
    static const uint8_t corners[CHANNELS] = {2, 3, 1, 0};
    uint32_t element[WARP][CHANNELS] = {{0}};
    for (int n = 0; n < CHANNELS; n++) {
        if (!read_corner(w, i, t, samples, corners[n], lanes, false, element)) return false;
        EACH_LANE(lanes, value[l][n] = gathered(t, element[l][i->texture.channel]));
    }
    return true;
}

/* Carries out a read of the lanes that have one object. False: a fault. */
static bool read_object(struct warp *w, const struct insn *i, uint32_t lanes, bool gathers)
{
    struct sample samples[WARP];
    uint32_t value[WARP][CHANNELS] = {{0}}; /* also of channels that the texture does not have */
    const struct emu_texture *t = texture_object(w, i, lanes);
    if (!t) return false;
    bool filters = t->is_filtered && !i->texture.by_integers;
    EACH_LANE(lanes, take_sample(w, i, t, l, filters || gathers, &samples[l]));
    bool done = gathers   ? gather(w, i, t, samples, lanes, value)
                : filters ? filter(w, i, t, samples, lanes, value)
                          : read_corner(w, i, t, samples, 0, lanes, false, value);
    for (unsigned c = 0; c < CHANNELS && done; c++) {
        slot d = i->texture.value[c];
        if (d != NO_SLOT) EACH_LANE(lanes, set_lane(w, d, i->lane_bytes, l, value[l][c]));
    }
    return done;
}

static void texture_read(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (uint32_t left = mask; left;)
        if (!read_object(w, i, texture_take_lanes(w, i, &left), false)) return;
    set_predicate(w, i->texture.resident, mask, ALL_LANES);
}

static void texture_gather(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (uint32_t left = mask; left;)
        if (!read_object(w, i, texture_take_lanes(w, i, &left), true)) return;
    set_predicate(w, i->texture.resident, mask, ALL_LANES);
}

static const struct op entries[] = {{"tex", texture_read, ""}, {"tld4", texture_gather, ""}};
DEFINE_OP_TABLE(ops_texture, entries);

/* ---- reads and writes of surfaces (PTX ISA, "suld", "sust") ---------------------------------- */

/* The first coordinate is in bytes, and the bytes there are accessed as they are. */

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

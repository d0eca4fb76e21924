/*
 * ops_param.c — parameters (PTX ISA, "ld.param", "st.param"): those of the kernel, and those of the
 * functions that it calls.
 */
#include "common/emu/machine/access_error.h"
#include "common/emu/machine/frame.h"
#include "ops_access.h"
#include <string.h>

/* Writes one value into all lanes. */
static void spread(const struct warp *w, slot s, unsigned lane_bytes, uint32_t mask, uint64_t value)
{
    if (lane_bytes == 8) {
        lane_64 *d = LANES(u64, s);
        FOR_LANES(d, value);
    } else {
        lane_32 *d = LANES(u32, s);
        FOR_LANES(d, (uint32_t)value);
    }
}

/* Loads a parameter that is given by its name, as is usual: the value is the same for all lanes.
 * False: the address is computed. */
static bool load_named_param(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct launch *launch = w->block->launch;
    uint64_t bytes = (uint64_t)i->element_bytes * i->elements;
    if (i->address.base >> 30 != BANK_CONSTANTS || i->address.offset < 0 ||
        (uint64_t)i->address.offset + bytes > launch->kernel->param_bytes)
        return false;
    for (unsigned k = 0; k < i->elements; k++) {
        uint64_t value = 0;
        if (i->memory.value[k] == NO_SLOT) continue;
        copy_few(&value, launch->params + i->address.offset + (size_t)k * i->element_bytes,
                 i->element_bytes);
        spread(w, i->memory.value[k], i->lane_bytes, mask,
               load_element(&value, i->element_bytes, i->is_signed));
    }
    return true;
}

/* Loads a parameter. If its address is computed, each lane may have another address. */
static void load_param(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (load_named_param(w, i, mask)) return;
    const struct launch *launch = w->block->launch;
    unsigned bytes = (unsigned)i->element_bytes * i->elements;
    for (uint32_t left = mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t at =
            get_lane(w, i->address.base, i->address.bytes, l) + (uint64_t)i->address.offset;
        if (at > launch->kernel->param_bytes || bytes > launch->kernel->param_bytes - at) {
            struct access access;
            access_make(&access, OPERATION_LOAD, PTX_PARAM, UINT32_C(1) << l, bytes);
            for (int k = 0; k < WARP; k++) access.address[k] = at;
            access_outside(w, i, &access, launch->kernel->param_bytes);
            return;
        }
        for (unsigned k = 0; k < i->elements; k++)
            if (i->memory.value[k] != NO_SLOT) {
                uint64_t value = 0;
                memcpy(&value, launch->params + at + (size_t)k * i->element_bytes,
                       i->element_bytes);
                set_lane(w, i->memory.value[k], i->lane_bytes, l,
                         load_element(&value, i->element_bytes, i->is_signed));
            }
    }
}

/* ld.param and st.param around calls and inside functions: they access the frame's area. The
 * decoder has checked that the bytes are inside the area. */
static void load_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    const uint8_t *area = w->frame->area + i->address.offset;
    size_t stride = w->frame->area_bytes;
    if (i->elements == 1 && i->element_bytes == 4 && i->lane_bytes == 4) { /* the usual one */
        lane_32 *d = LANES(u32, i->memory.value[0]);
        EACH_LANE(mask, memcpy(&d[l], area + (size_t)l * stride, 4));
        return;
    }
    for (unsigned k = 0; k < i->elements; k++, area += i->element_bytes)
        for (uint32_t left = i->memory.value[k] == NO_SLOT ? 0 : mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t value = 0;
            copy_few(&value, area + (size_t)l * stride, i->element_bytes);
            set_lane(w, i->memory.value[k], i->lane_bytes, l,
                     load_element(&value, i->element_bytes, i->is_signed));
        }
}

static void store_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint8_t *area = w->frame->area + i->address.offset;
    size_t stride = w->frame->area_bytes;
    if (i->elements == 1 && i->element_bytes == 4 && i->lane_bytes == 4) {
        const lane_32 *from = LANES(u32, i->memory.value[0]);
        EACH_LANE(mask, memcpy(area + (size_t)l * stride, &from[l], 4));
        return;
    }
    for (unsigned k = 0; k < i->elements; k++, area += i->element_bytes)
        for (uint32_t left = mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t value = get_lane(w, i->memory.value[k], i->lane_bytes, l);
            copy_few(area + (size_t)l * stride, &value, i->element_bytes);
        }
}

static const struct op entries[] = {
    {"ld.param", load_param, ""}, {"ld.area", load_area, ""}, {"st.area", store_area, ""}};
DEFINE_OP_TABLE(ops_param, entries);

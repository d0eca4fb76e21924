/*
 * ops_param.c — parameters (PTX ISA, "ld.param", "st.param"): those of the kernel, and those of the
 * functions that it calls.
 */
#include "common/emu/machine/access_error.h"
#include "common/emu/machine/area.h"
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

/* ---- ld.param and st.param around calls and inside functions: the frame's area. The decoder has
 * checked that the bytes are inside of it ---- */

/* Is an element whole words in a register of its size? Then the rows of the area hold it as the
 * register does, or as its halves. */
static bool is_whole_words(const struct insn *i, size_t offset)
{
    return i->element_bytes % AREA_WORD == 0 && i->element_bytes == i->lane_bytes &&
           offset % AREA_WORD == 0;
}

static void load_words(const struct warp *w, unsigned bytes, slot to, uint32_t mask, size_t offset)
{
    const lane_32 *low = area_row(w->frame, offset), *high = low + WARP;
    if (bytes == 8) {
        lane_64 *d = LANES(u64, to);
        FOR_LANES(d, low[l] | (uint64_t)high[l] << 32);
    } else {
        lane_32 *d = LANES(u32, to);
        FOR_LANES(d, low[l]);
    }
}

static void store_words(const struct warp *w, unsigned bytes, slot from, uint32_t mask,
                        size_t offset)
{
    lane_32 *low = area_row(w->frame, offset), *high = low + WARP;
    if (bytes == 8) {
        const lane_64 *s = LANES(u64, from);
        FOR_LANES(low, (uint32_t)s[l]);
        FOR_LANES(high, (uint32_t)(s[l] >> 32));
    } else {
        const lane_32 *s = LANES(u32, from);
        FOR_LANES(low, s[l]);
    }
}

static void load_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t offset = (size_t)i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, offset += i->element_bytes) {
        slot to = i->memory.value[k];
        if (to == NO_SLOT) continue;
        if (is_whole_words(i, offset)) {
            load_words(w, i->element_bytes, to, mask, offset);
            continue;
        }
        for (uint32_t left = mask; left; left &= left - 1) {
            uint64_t value = 0;
            area_read(w->frame, __builtin_ctz(left), offset, &value, i->element_bytes);
            set_lane(w, to, i->lane_bytes, __builtin_ctz(left),
                     load_element(&value, i->element_bytes, i->is_signed));
        }
    }
}

static void store_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t offset = (size_t)i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, offset += i->element_bytes) {
        slot from = i->memory.value[k];
        if (is_whole_words(i, offset)) {
            store_words(w, i->element_bytes, from, mask, offset);
            continue;
        }
        for (uint32_t left = mask; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            uint64_t value = get_lane(w, from, i->lane_bytes, lane);
            area_write(w->frame, lane, offset, &value, i->element_bytes);
        }
    }
}

static const struct op param_entries[] = {
    {"ld.param", load_param, ""}, {"ld.area", load_area, ""}, {"st.area", store_area, ""}};
DEFINE_OP_TABLE(ops_param, param_entries);

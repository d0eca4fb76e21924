#include "tensor.h"
#include "common/emu/decode/warp_ops.h"
#include "common/emu/machine/device/device.h"
#include "common/emu/machine/events.h"
#include <string.h>

enum { UNIT = 16 }; /* bytes: what a swizzle moves; rows of a box are multiples of it */

/* ---- the map --------------------------------------------------------------------------------- */

/* Reads a map by the door of memory, as the thread's load. False after a fault. */
static bool read_map(struct warp *w, const struct insn *i, int lane, uint64_t address,
                     struct tensor_map *map)
{
    for (unsigned at = 0; at < sizeof *map; at += UNIT) {
        struct access access;
        access_make(&access, OPERATION_LOAD, PTX_GENERIC, UINT32_C(1) << lane, UNIT);
        for (int l = 0; l < WARP; l++) access.address[l] = address + at;
        if (!access_door_base(w, i, &access)) return false;
        if (access.space != PTX_GLOBAL && access.space != PTX_PARAM) {
            fault(w, i, lane, EMU_INVALID_ADDRESS_SPACE,
                  "a tensor map is in .%s memory; it can be a __grid_constant__ parameter, or in "
                  "constant or global memory",
                  ptx_space_name(access.space));
            return false;
        }
        memcpy((char *)map + at, (const void *)(uintptr_t)(access.host + access.address[lane]),
               UNIT);
    }
    return true;
}

/* May the instruction use the map? False after a fault. */
static bool check_map(struct warp *w, const struct insn *i, int lane, uint64_t address,
                      const struct tensor_map *map)
{
    unsigned rank = i->bulk.rank;
    if (map->seal != tensor_map_seal(map))
        fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
              "the 128 bytes at address 0x%llx are no tensor map that cuTensorMapEncodeTiled has "
              "made",
              (unsigned long long)address);
    else if (rank && rank != map->rank)
        fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
              "the tensor map is for %u dimensions, and the instruction for %u", map->rank, rank);
    else
        return true;
    return false;
}

/* Are there such reductions of these elements? Not of 1 or 2 bytes, and of floats only sums. False
 * after a fault. */
static bool check_reduction(struct warp *w, const struct insn *i, int lane, enum ptx_type type)
{
    enum atomic operation = i->atomic.operation;
    bool adds = operation == ATOMIC_ADD;
    bool wraps = operation == ATOMIC_INC || operation == ATOMIC_DEC;
    if (ptx_type_size(type) >= sizeof(uint32_t) && (adds || !ptx_type_is_float(type)) &&
        (!wraps || type == PTX_U32))
        return true;
    fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
          "the emulator has no such reduction of a tensor of .%s", ptx_type_name(type));
    return false;
}

bool tensor_box_read(struct warp *w, const struct insn *i, int lane, struct tensor_box *box)
{
    const struct address *operand = i->bulk.to.space == PTX_GLOBAL ? &i->bulk.to : &i->bulk.from;
    uint64_t address = address_of(w, operand, lane);
    const struct tensor_map *map = &box->map;
    if (address % TENSOR_MAP_ALIGNMENT) {
        fault(w, i, lane, EMU_MISALIGNED_ADDRESS,
              "address 0x%llx of a tensor map is not a multiple of %d", (unsigned long long)address,
              TENSOR_MAP_ALIGNMENT);
        return false;
    }
    if (!read_map(w, i, lane, address, &box->map) || !check_map(w, i, lane, address, map) ||
        (i->bulk.reduces && !check_reduction(w, i, lane, map->type)))
        return false;
    box->bytes = ptx_type_size(map->type);
    for (unsigned d = 0; d < i->bulk.rank; d++) {
        box->at[d] = ((const int32_t *)slot_at(w, i->bulk.coordinates[d]))[lane];
        box->count[d] = (map->box[d] + map->step[d] - 1u) / map->step[d];
        box->bytes *= box->count[d];
    }
    uint64_t line = UNIT << map->swizzle;
    box->span = (box->bytes + line - 1) / line * line;
    return true;
}

void op_tensor_prefetch(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct tensor_box box;
    for (; mask && !w->block->launch->error; mask &= mask - 1)
        tensor_box_read(w, i, __builtin_ctz(mask), &box);
}

/* ---- the units of a box ---------------------------------------------------------------------- */

/* 16 bytes of shared memory. The bytes from `begin` up to `end` are inside of the tensor. */
struct box_unit {
    uint64_t shared; /* bytes from the box's first one */
    uint64_t tensor; /* the place of `begin`: bytes from the tensor's first one */
    unsigned begin, end;
};

/* The address decides, not the place in the box: bits 7 to 9 are xored to bits 4 to 6, of which a
 * swizzle of 64 bytes takes two and one of 32 bytes one. */
static uint64_t swizzled(const struct tensor_box *box, uint64_t at)
{
    uint64_t address = box->offset + at, mask = (UINT64_C(1) << box->map.swizzle) - 1;
    return (address ^ (address >> 7 & mask) << 4) - box->offset;
}

static unsigned within_unit(int64_t byte) { return byte < 0 ? 0 : byte > UNIT ? UNIT : byte; }

static struct box_unit unit_at(const struct tensor_box *box, uint64_t at)
{
    const struct tensor_map *map = &box->map;
    int64_t element = (int64_t)ptx_type_size(map->type);
    uint64_t row_bytes = box->count[0] * (uint64_t)element, row = at / row_bytes;
    int64_t first = box->at[0] * element + (int64_t)(at % row_bytes);
    struct box_unit unit = {.shared = swizzled(box, at),
                            .tensor = (uint64_t)first,
                            .begin = within_unit(-first),
                            .end = within_unit((int64_t)map->size[0] * element - first)};
    bool inside = unit.begin < unit.end;
    for (unsigned d = 1; d < map->rank; row /= box->count[d++]) {
        int64_t index = box->at[d] + (int64_t)(row % box->count[d] * map->step[d]);
        inside &= index >= 0 && index < (int64_t)map->size[d];
        unit.tensor += (uint64_t)index * map->stride[d - 1];
    }
    unit.tensor += unit.begin;
    if (!inside) unit.tensor = unit.begin = unit.end = 0;
    return unit;
}

/* ---- checking and announcing ----------------------------------------------------------------- */

bool tensor_find(struct warp *w, const struct insn *i, int lane, const struct tensor_box *box,
                 int64_t *delta)
{
    const struct emu *emu = w->block->launch->emu;
    struct range range = {0};
    uint64_t outside = box->map.address;
    bool found = device_range(emu, outside, &range);
    for (uint64_t at = 0; found && at < box->bytes; at += UNIT) {
        struct box_unit unit = unit_at(box, at);
        uint64_t begin = box->map.address + unit.tensor - range.base;
        unsigned bytes = unit.end - unit.begin;
        found = !bytes || (begin < range.bytes && bytes <= range.bytes - begin);
        outside = range.base + begin;
    }
    *delta = range.delta;
    if (found) return true;
    char nearest[200];
    device_describe_address(emu, outside, nearest, sizeof nearest);
    fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
          "a bulk copy of a tensor accesses global address 0x%llx, which is out of bounds (%s)",
          (unsigned long long)outside, nearest);
    return false;
}

static void announce(struct warp *w, const struct insn *i, struct access *access, uint64_t address,
                     unsigned bytes)
{
    access->bytes = access->checked = bytes;
    for (int l = 0; l < WARP; l++) access->address[l] = address;
    event_access(w, i, access);
}

/* In global memory a unit may begin at any element; as an access does not cross a multiple of 16,
 * such a unit is two accesses. In shared memory the part of the box outside of the tensor is
 * written, too, but not read. */
void tensor_announce(struct warp *w, const struct insn *i, const struct tensor_box *box,
                     struct access *access)
{
    bool is_shared = access->space == PTX_SHARED, fills = is_shared && !access_reads(access);
    for (uint64_t at = 0; at < box->bytes; at += UNIT) {
        struct box_unit unit = unit_at(box, at);
        uint64_t from = is_shared ? box->offset + unit.shared + (fills ? 0 : unit.begin)
                                  : box->map.address + unit.tensor;
        uint64_t to = from + (fills ? UNIT : unit.end - unit.begin);
        uint64_t middle = (from / UNIT + 1) * UNIT;
        if (from == to) continue;
        announce(w, i, access, from, (unsigned)((to < middle ? to : middle) - from));
        if (to > middle) announce(w, i, access, middle, (unsigned)(to - middle));
    }
}

/* ---- carrying out ---------------------------------------------------------------------------- */

/* What elements outside of the tensor become: 0, or a NaN: all bits but the highest are set. */
static void fill(const struct tensor_map *map, uint8_t *unit)
{
    unsigned element = (unsigned)ptx_type_size(map->type);
    memset(unit, map->fills_nan ? 0xff : 0, UNIT);
    for (unsigned k = element; map->fills_nan && k <= UNIT; k += element) unit[k - 1] = 0x7f;
}

static bool put(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    bool changes = memcmp(to, from, bytes);
    if (changes) memcpy(to, from, bytes);
    return changes;
}

bool tensor_carry_out(const struct insn *i, const struct tensor_box *box, uint8_t *shared,
                      uint8_t *tensor)
{
    const struct tensor_map *map = &box->map;
    struct insn reduction = *i; /* with the type, which is the map's */
    reduction.element_bytes = reduction.lane_bytes = (uint8_t)ptx_type_size(map->type);
    reduction.atomic.type = map->type;
    reduction.atomic.is_float = ptx_type_is_float(map->type);
    reduction.is_signed = ptx_type_is_signed(map->type);
    bool changes = false;
    for (uint64_t at = 0; at < box->bytes; at += UNIT) {
        struct box_unit unit = unit_at(box, at);
        uint8_t *here = shared + unit.shared, *there = tensor + unit.tensor, bytes[UNIT];
        unsigned begin = unit.begin, count = unit.end - unit.begin;
        if (i->bulk.to.space != PTX_GLOBAL) {
            fill(map, bytes);
            memcpy(bytes + begin, there, count);
            changes |= put(here, bytes, UNIT);
        } else if (!i->bulk.reduces) {
            changes |= put(there, here + begin, count);
        } else {
            for (unsigned k = 0; k < count; k += reduction.element_bytes)
                changes |= access_combine_base(&reduction, there + k, here + begin + k);
        }
    }
    return changes;
}

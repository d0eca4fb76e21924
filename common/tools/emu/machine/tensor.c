/* tensor.c — bulk copies of tensors. */
#include "async.h"
#include "device.h"
#include "events.h"

enum { UNIT = 16 }; /* bytes: what a swizzle moves; boxes begin and end at multiples of it */

/* ---- the map --------------------------------------------------------------------------------- */

/* Reads a map by the door of memory, as the thread's load. False after a fault. */
static bool read_map(struct warp *w, const struct insn *i, int lane, uint64_t address,
                     struct tensor_map *map)
{
    for (unsigned at = 0; at < sizeof *map; at += UNIT) {
        struct access access;
        access_make(&access, OPERATION_LOAD, PTX_GENERIC, UINT32_C(1) << lane, UNIT);
        for (int l = 0; l < WARP; l++) access.address[l] = address + at;
        if (!access_door_any(w, i, &access)) return false;
        if (access.space != PTX_GLOBAL && access.space != PTX_PARAM) {
            fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
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

/* An H200 ends kernels with this error (profiles/h200/boxes.csv). False after a fault. */
static bool begins_at_unit(struct warp *w, const struct insn *i, int lane,
                           const struct tensor_box *box)
{
    int elements = UNIT / (int)ptx_type_size(box->map.type);
    if (box->at[0] % elements == 0) return true;
    fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
          "the box of a tensor begins at coordinate %d of dimension 0, which is not a multiple of "
          "%d bytes; begin boxes at multiples of %d elements",
          box->at[0], UNIT, elements);
    return false;
}

/* The same for stores and reductions that begin below 0. False after a fault. */
static bool begins_inside(struct warp *w, const struct insn *i, int lane,
                          const struct tensor_box *box)
{
    for (unsigned d = 0; box->is_stored && d < box->map.rank; d++) {
        if (box->at[d] >= 0) continue;
        fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
              "a bulk copy to a tensor begins at coordinate %d of dimension %u, and only loads may "
              "begin below 0; begin at 0, by a map with a smaller box if need be",
              box->at[d], d);
        return false;
    }
    return true;
}

/* False after a fault. */
static bool read_box(struct warp *w, const struct insn *i, int lane, struct tensor_box *box)
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
    box->is_stored = i->bulk.to.space == PTX_GLOBAL;
    box->bytes = ptx_type_size(map->type);
    for (unsigned d = 0; d < i->bulk.rank; d++) {
        box->at[d] = ((const int32_t *)slot_at(w, i->bulk.coordinates[d]))[lane];
        box->count[d] = (map->box[d] + map->step[d] - 1u) / map->step[d];
        box->bytes *= box->count[d];
    }
    uint64_t line = UNIT << map->swizzle;
    box->span = (box->bytes + line - 1) / line * line;
    return begins_at_unit(w, i, lane, box);
}

bool tensor_box_read(struct warp *w, const struct insn *i, int lane, struct tensor_box *box)
{
    return read_box(w, i, lane, box) && begins_inside(w, i, lane, box);
}

void op_tensor_prefetch(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct tensor_box box;
    for (; mask && !w->block->launch->error; mask &= mask - 1)
        read_box(w, i, __builtin_ctz(mask), &box);
}

/* ---- the units of a box ---------------------------------------------------------------------- */

/* 16 bytes of shared memory, and of the tensor. A load takes only the bytes inside of the tensor; a
 * store or a reduction takes the whole unit if its first byte is inside, as on an H200. */
struct box_unit {
    uint64_t shared; /* bytes from the box's first one */
    uint64_t tensor; /* bytes from the tensor's first one */
    unsigned bytes;  /* what is taken; 0: it is outside */
};

/* The address decides, not the place in the box: bits 7 to 9 are xored to bits 4 to 6, of which a
 * swizzle of 64 bytes takes two and one of 32 bytes one. */
static uint64_t swizzled(const struct tensor_box *box, uint64_t at)
{
    uint64_t address = box->offset + at, mask = (UINT64_C(1) << box->map.swizzle) - 1;
    return (address ^ (address >> 7 & mask) << 4) - box->offset;
}

static struct box_unit unit_at(const struct tensor_box *box, uint64_t at)
{
    const struct tensor_map *map = &box->map;
    int64_t element = (int64_t)ptx_type_size(map->type);
    uint64_t row_bytes = box->count[0] * (uint64_t)element, row = at / row_bytes;
    int64_t first = box->at[0] * element + (int64_t)(at % row_bytes);
    int64_t rest = (int64_t)map->size[0] * element - first;
    struct box_unit unit = {.shared = swizzled(box, at),
                            .tensor = (uint64_t)first,
                            .bytes = box->is_stored || rest > UNIT ? UNIT : (unsigned)rest};
    bool inside = first >= 0 && rest > 0;
    for (unsigned d = 1; d < map->rank; row /= box->count[d++]) {
        int64_t index = box->at[d] + (int64_t)(row % box->count[d] * map->step[d]);
        inside &= index >= 0 && index < (int64_t)map->size[d];
        unit.tensor += (uint64_t)index * map->stride[d - 1];
    }
    if (!inside) unit.tensor = unit.bytes = 0;
    return unit;
}

/* ---- checking and announcing ----------------------------------------------------------------- */

bool tensor_find(struct warp *w, const struct insn *i, int lane, const struct tensor_box *box,
                 int64_t *delta)
{
    const struct emu *emu = w->block->launch->emu;
    struct range range = {0};
    uint64_t outside = box->map.address;
    bool found = device_range(emu, outside, &range), is_cut = false;
    for (uint64_t at = 0; found && at < box->bytes; at += UNIT) {
        struct box_unit unit = unit_at(box, at);
        uint64_t begin = box->map.address + unit.tensor - range.base;
        is_cut = begin < range.bytes;
        found = !unit.bytes || (is_cut && unit.bytes <= range.bytes - begin);
        outside = range.base + (is_cut ? range.bytes : begin);
    }
    *delta = range.delta;
    if (found) return true;
    char nearest[200];
    device_describe_address(emu, outside, nearest, sizeof nearest);
    fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
          "a bulk copy of a tensor accesses global address 0x%llx, which is out of bounds (%s)%s",
          (unsigned long long)outside, nearest,
          is_cut && box->is_stored ? "; stores and reductions write whole units of 16 bytes" : "");
    return false;
}

/* Of the part of the box outside of the tensor, a load writes shared memory, and a store reads only
 * the rest of a row's last unit. */
void tensor_announce(struct warp *w, const struct insn *i, const struct tensor_box *box,
                     struct access *access)
{
    bool is_shared = access->space == PTX_SHARED, fills = is_shared && !box->is_stored;
    for (uint64_t at = 0; at < box->bytes; at += UNIT) {
        struct box_unit unit = unit_at(box, at);
        uint64_t address = is_shared ? box->offset + unit.shared : box->map.address + unit.tensor;
        access->bytes = access->checked = fills ? UNIT : unit.bytes;
        if (!access->bytes) continue;
        for (int l = 0; l < WARP; l++) access->address[l] = address;
        event_access(w, i, access);
    }
}

/* ---- carrying out ---------------------------------------------------------------------------- */

/* What elements outside of the tensor become: 0, or NaNs. An H200's are these 16 bits again and
 * again, whatever the type (profiles/h200/boxes.csv). */
static void fill(const struct tensor_map *map, uint8_t *unit)
{
    const uint16_t nan = map->fills_nan ? 0x7ff7 : 0;
    for (unsigned k = 0; k < UNIT; k += sizeof nan) memcpy(unit + k, &nan, sizeof nan);
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
        if (!box->is_stored) {
            fill(map, bytes);
            memcpy(bytes, there, unit.bytes);
            changes |= put(here, bytes, UNIT);
        } else if (!i->bulk.reduces) {
            changes |= put(there, here, unit.bytes);
        } else {
            for (unsigned k = 0; k < unit.bytes; k += reduction.element_bytes)
                changes |= access_combine_any(&reduction, there + k, here + k);
        }
    }
    return changes;
}

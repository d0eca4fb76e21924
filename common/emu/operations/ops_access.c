/*
 * ops_access.c — loads, stores and atomics (PTX ISA, "ld", "st", "atom", "red").
 *
 * Every access of a warp to shared, global or local memory passes one door, the function of that
 * name. It turns generic addresses into those of a space, checks bounds and alignment, counts,
 * traces, and says where the bytes are. An access whose lanes go to different places passes it
 * several times, once a place.
 */
#include "common/emu/machine/access_error.h"
#include "common/emu/machine/device.h"
#include "common/emu/machine/frame.h"
#include "common/emu/machine/shared.h"
#include "ops.h"
#include "common/emu/decode/warp_ops.h"
#include "common/emu/machine/events.h"
#include <string.h>

#define access_door EMU_PASTE(access_door_, EMU_ISA)
uint32_t access_door(struct warp *, const struct insn *, struct access *);

/* The addresses that an instruction names: register + offset, in 32 bits if the register has 32. */
static inline void take_addresses(struct warp *w, const struct insn *i, uint32_t mask,
                                  struct access *access)
{
    const struct address *from = &i->address;
    if (from->bytes == 8) {
        const lane_64 *a = LANES(u64, from->base);
        for (int l = 0; l < WARP; l++) access->address[l] = a[l] + (uint64_t)from->offset;
    } else {
        const lane_32 *a = LANES(u32, from->base);
        for (int l = 0; l < WARP; l++)
            access->address[l] = (uint32_t)(a[l] + (uint32_t)from->offset);
    }
    access->mask = mask;
    access->space = from->space;
    if (mask == ALL_LANES) return;
    uint64_t first = access->address[__builtin_ctz(mask)];
    for (int l = 0; l < WARP; l++) access->address[l] = mask >> l & 1 ? access->address[l] : first;
}

/* Are all 32 addresses inside [base, base + bytes - size]? */
static inline bool all_inside(const struct access *access, uint64_t base, uint64_t bytes)
{
    if (bytes < access->checked) return false;
    uint64_t span = bytes - access->checked, outside = 0;
    for (int l = 0; l < WARP; l++) outside |= (uint64_t)(access->address[l] - base > span);
    return !outside;
}

/* Keeps those lanes of the access that satisfy a condition on their address, a. */
#define KEEP_LANES(access, condition)                                                              \
    do {                                                                                           \
        uint32_t kept = 0;                                                                         \
        for (int l = 0; l < WARP; l++) {                                                           \
            uint64_t a = (access)->address[l];                                                     \
            kept |= (uint32_t)(condition) << l;                                                    \
        }                                                                                          \
        (access)->mask &= kept;                                                                    \
        uint64_t first = (access)->address[__builtin_ctz((access)->mask)];                         \
        for (int l = 0; l < WARP; l++)                                                             \
            if (!((access)->mask >> l & 1)) (access)->address[l] = first;                          \
    } while (0)

static enum ptx_space space_of(uint64_t address)
{
    return address - SHARED_WINDOW < WINDOW_BYTES  ? PTX_SHARED
           : address - LOCAL_WINDOW < WINDOW_BYTES ? PTX_LOCAL
           : address - PARAM_WINDOW < WINDOW_BYTES ? PTX_PARAM
                                                   : PTX_GLOBAL;
}

static uint64_t window_base(enum ptx_space space)
{
    return space == PTX_SHARED  ? SHARED_WINDOW
           : space == PTX_LOCAL ? LOCAL_WINDOW
           : space == PTX_PARAM ? PARAM_WINDOW
                                : 0;
}

/* Global memory: the range that the last access of this warp was in is nearly always the right
 * one. */
static bool find_range(struct warp *w, const struct insn *i, struct access *access)
{
    if (all_inside(access, w->near.base, w->near.bytes)) return true;
    int lane = __builtin_ctz(access->mask);
    uint64_t address = access->address[lane];
    struct range range;
    if (device_range(w->block->launch->emu, address, &range) &&
        access->checked <= range.bytes - (address - range.base)) {
        w->near = range;
        if (range.is_heap) w->near.bytes = 0; /* another thread may free it at any time */
        if (!all_inside(access, range.base, range.bytes))
            KEEP_LANES(access, a - range.base <= range.bytes - access->checked);
        return true;
    }
    access_outside_global(w, i, access);
    return false;
}

/* Gives a generic access the space that its first lane's address is in; only lanes that go there are
 * kept, with addresses of that space. */
static inline void resolve(const struct warp *w, struct access *access)
{
    enum ptx_space space = space_of(access->address[__builtin_ctz(access->mask)]);
    access->space = space;
    if (space != PTX_GLOBAL || !all_inside(access, w->near.base, w->near.bytes))
        KEEP_LANES(access, space_of(a) == space);
    uint64_t base = window_base(space);
    for (int l = 0; l < WARP; l++) access->address[l] -= base;
}

static inline bool is_misaligned(const struct access *access)
{
    uint64_t misaligned = 0;
    for (int l = 0; l < WARP; l++) misaligned |= access->address[l] & (access->bytes - 1);
    return misaligned;
}

static inline void announce(struct warp *w, const struct insn *i, const struct access *access)
{
    if (w->counts || announces(w->block, ANNOUNCE_ACCESSES)) event_access(w, i, access);
}

/* `own`: .shared::cta, which reaches no other block. */
static inline bool enter_shared(struct warp *w, const struct insn *i, struct access *access,
                                bool own)
{
    bool is_alone = w->block->launch->cluster_size == 1;
    struct block *owner = is_alone ? w->block : shared_enter(w, i, access, own);
    if (!owner) return false;
    if (!all_inside(access, 0, owner->shared_bytes)) {
        access_outside(w, i, access, owner->shared_bytes);
        return false;
    }
    access->owner = owner;
    access->host = (uint64_t)(uintptr_t)owner->shared;
    announce(w, i, access);
    return true;
}

/* A lane's local memory lies behind that of the lane before. */
static inline bool enter_local(struct warp *w, const struct insn *i, struct access *access)
{
    size_t bytes = w->block->launch->kernel->stack_bytes;
    if (access->operation == OPERATION_ATOMIC) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, bytes)) {
        access_outside(w, i, access, bytes);
        return false;
    }
    access->host = (uint64_t)(uintptr_t)w->local;
    for (int l = 0; l < WARP; l++) access->address[l] += (uint64_t)l * bytes;
    return true;
}

static inline bool enter_param(struct warp *w, const struct insn *i, struct access *access)
{
    const struct launch *launch = w->block->launch;
    if (access_writes(access)) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, launch->kernel->param_bytes)) {
        access_outside(w, i, access, launch->kernel->param_bytes);
        return false;
    }
    access->host = (uint64_t)(uintptr_t)launch->params;
    return true;
}

/* Constant memory is global memory that nobody counts or checks. */
static inline bool enter_global(struct warp *w, const struct insn *i, struct access *access)
{
    if (!find_range(w, i, access)) return false;
    access->owner = w->block;
    access->host = (uint64_t)w->near.delta;
    if (access->space != PTX_CONST) announce(w, i, access);
    return true;
}

static inline bool enter(struct warp *w, const struct insn *i, struct access *access, bool own)
{
    switch (access->space) {
    case PTX_SHARED: return enter_shared(w, i, access, own);
    case PTX_LOCAL: return enter_local(w, i, access);
    case PTX_PARAM: return enter_param(w, i, access);
    default: return enter_global(w, i, access);
    }
}

/* See access.h. */
uint32_t access_door(struct warp *w, const struct insn *i, struct access *access)
{
    bool own = access->space == PTX_SHARED;
    if (access->space == PTX_SHARED_CLUSTER) access->space = PTX_SHARED;
    if (access->space == PTX_GENERIC) resolve(w, access);
    if (is_misaligned(access)) {
        access_misaligned(w, i, access);
        return 0;
    }
    return enter(w, i, access, own) ? access->mask : 0;
}

/* ---- moving the bytes ---------------------------------------------------------------------- */

typedef uint8_t byte_8 __attribute__((may_alias));
typedef uint16_t byte_16 __attribute__((may_alias));
typedef uint32_t byte_32 __attribute__((may_alias));
typedef uint64_t byte_64 __attribute__((may_alias));
typedef uint32_t byte_128 __attribute__((may_alias, vector_size(16))); /* four words */

static inline uint64_t load_element(const void *from, unsigned bytes, bool sign_extend)
{
    switch (bytes) {
    case 1:
        return sign_extend ? (uint64_t)(int64_t)(int8_t) * (const byte_8 *)from
                           : *(const byte_8 *)from;
    case 2:
        return sign_extend ? (uint64_t)(int64_t)(int16_t) * (const byte_16 *)from
                           : *(const byte_16 *)from;
    case 4:
        return sign_extend ? (uint64_t)(int64_t)(int32_t) * (const byte_32 *)from
                           : *(const byte_32 *)from;
    default: return *(const byte_64 *)from;
    }
}

static inline void store_element(void *to, uint64_t value, unsigned bytes)
{
    switch (bytes) {
    case 1: *(byte_8 *)to = (uint8_t)value; break;
    case 2: *(byte_16 *)to = (uint16_t)value; break;
    case 4: *(byte_32 *)to = (uint32_t)value; break;
    default: *(byte_64 *)to = value; break;
    }
}

static inline void set_lane(const struct warp *w, slot s, unsigned lane_bytes, int lane,
                            uint64_t value)
{
    if (lane_bytes == 8)
        LANES(u64, s)[lane] = value;
    else
        LANES(u32, s)[lane] = (uint32_t)value;
}

static inline uint64_t get_lane(const struct warp *w, slot s, unsigned lane_bytes, int lane)
{
    return lane_bytes == 8 ? LANES(u64, s)[lane] : LANES(u32, s)[lane];
}

/*
 * One lane's vector, which is aligned, in one piece: programs pack a flag and a value into one and
 * read them without a lock while another block writes. A GPU moves 16 bytes at once, and so does
 * every x86 CPU with AVX.
 */
static inline void move_vector(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 2: *(volatile byte_16 *)to = *(const volatile byte_16 *)from; break;
    case 4: *(volatile byte_32 *)to = *(const volatile byte_32 *)from; break;
    case 8: *(volatile byte_64 *)to = *(const volatile byte_64 *)from; break;
    default:
        for (unsigned k = 0; k < bytes / sizeof(byte_128); k++)
            ((volatile byte_128 *)to)[k] = ((const volatile byte_128 *)from)[k];
    }
}

/* 32 lanes, one 4-byte element each, one after the other: a copy of 128 bytes. */
static inline bool is_block_copy(const struct insn *i, const struct access *access)
{
    if (access->mask != ALL_LANES || i->elements != 1 || i->element_bytes != 4 ||
        i->lane_bytes != 4)
        return false;
    uint64_t gap = 0;
    for (int l = 0; l < WARP; l++) gap |= access->address[l] - access->address[0] - 4 * (uint64_t)l;
    return !gap;
}

/* For each lane of the access; nearly always that is all of them. */
#define EACH_LANE(access, statement)                                                               \
    do {                                                                                           \
        if ((access)->mask == ALL_LANES)                                                           \
            for (int l = 0; l < WARP; l++) statement;                                              \
        else                                                                                       \
            for (uint32_t left = (access)->mask; left; left &= left - 1) {                         \
                int l = __builtin_ctz(left);                                                       \
                statement;                                                                         \
            }                                                                                      \
    } while (0)

/* One element a lane. A loop for each width and kind, which is chosen once and not in each lane. */
static void load_elements(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
#define LOAD(d, type)                                                                              \
    EACH_LANE(access, d[l] = (__typeof__(*d))(type)load_element(                                   \
                          (const void *)(uintptr_t)(host + access->address[l]), sizeof(type), 0))
    int kind = i->is_signed ? -i->element_bytes : i->element_bytes;
    if (i->lane_bytes == 4) {
        lane_32 *d = LANES(u32, i->memory.value[0]);
        switch (kind) {
        case 1: LOAD(d, uint8_t); break;
        case -1: LOAD(d, int8_t); break;
        case 2: LOAD(d, uint16_t); break;
        case -2: LOAD(d, int16_t); break;
        default: LOAD(d, uint32_t);
        }
    } else {
        lane_64 *d = LANES(u64, i->memory.value[0]);
        switch (kind) {
        case 1: LOAD(d, uint8_t); break;
        case -1: LOAD(d, int8_t); break;
        case 2: LOAD(d, uint16_t); break;
        case -2: LOAD(d, int16_t); break;
        case 4: LOAD(d, uint32_t); break;
        case -4: LOAD(d, int32_t); break;
        default: LOAD(d, uint64_t);
        }
    }
#undef LOAD
}

static void store_elements(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
#define STORE(bytes)                                                                               \
    EACH_LANE(access, store_element((void *)(uintptr_t)(host + access->address[l]), from[l], bytes))
    if (i->lane_bytes == 4) {
        const lane_32 *from = LANES(u32, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(1); break;
        case 2: STORE(2); break;
        default: STORE(4);
        }
    } else {
        const lane_64 *from = LANES(u64, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(1); break;
        case 2: STORE(2); break;
        case 4: STORE(4); break;
        default: STORE(8);
        }
    }
#undef STORE
}

/* .v4 of 4 bytes, the usual one. */
static void load_four(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    lane_32 *d0 = LANES(u32, i->memory.value[0]), *d1 = LANES(u32, i->memory.value[1]);
    lane_32 *d2 = LANES(u32, i->memory.value[2]), *d3 = LANES(u32, i->memory.value[3]);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector = *(const volatile byte_128 *)(uintptr_t)(host + access->address[l]);
        d0[l] = vector[0], d1[l] = vector[1], d2[l] = vector[2], d3[l] = vector[3];
    }
}

static void store_four(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    const lane_32 *a = LANES(u32, i->memory.value[0]), *b = LANES(u32, i->memory.value[1]);
    const lane_32 *c = LANES(u32, i->memory.value[2]), *d = LANES(u32, i->memory.value[3]);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        *(volatile byte_128 *)(uintptr_t)(host + access->address[l]) =
            (byte_128){a[l], b[l], c[l], d[l]};
    }
}

static bool is_four_words(const struct insn *i)
{
    return i->elements == 4 && i->element_bytes == 4 && i->lane_bytes == 4 &&
           i->memory.value[0] != NO_SLOT && i->memory.value[1] != NO_SLOT &&
           i->memory.value[2] != NO_SLOT && i->memory.value[3] != NO_SLOT;
}

static void load_vectors(struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    if (is_four_words(i)) {
        load_four(w, i, access);
        return;
    }
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
        move_vector(vector, (const void *)(uintptr_t)(host + access->address[l]), access->bytes);
        for (unsigned k = 0; k < i->elements; k++)
            if (i->memory.value[k] != NO_SLOT)
                set_lane(w, i->memory.value[k], i->lane_bytes, l,
                         load_element((const char *)vector + k * i->element_bytes, i->element_bytes,
                                      i->is_signed));
    }
}

static void store_vectors(struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    if (is_four_words(i)) {
        store_four(w, i, access);
        return;
    }
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
        for (unsigned k = 0; k < i->elements; k++)
            store_element((char *)vector + k * i->element_bytes,
                          get_lane(w, i->memory.value[k], i->lane_bytes, l), i->element_bytes);
        move_vector((void *)(uintptr_t)(host + access->address[l]), vector, access->bytes);
    }
}

static void load(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_LOAD, i->address.space, mask,
                (unsigned)i->element_bytes * i->elements);
    access.checked = i->memory.checked_bytes;
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        if (is_block_copy(i, &access)) {
            memcpy(LANES(u32, i->memory.value[0]),
                   (const void *)(uintptr_t)(access.host + access.address[0]), SLOT_32);
            continue;
        }
        if (i->elements > 1)
            load_vectors(w, i, &access);
        else
            load_elements(w, i, &access);
    }
}

/* A load that orders memory (ld.acquire, ld.volatile, …). */
static void load_polled(struct warp *w, const struct insn *i, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    uint64_t address = address_of(w, &i->address, lane); /* before it is overwritten */
    load(w, i, mask);
    if (i->memory.value[0] != NO_SLOT)
        warp_polls(w, i, address, get_lane(w, i->memory.value[0], i->lane_bytes, lane));
}

/* Would a store leave something else than what is there? It nearly always does, and the first lane
 * tells. */
static bool changes_memory(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    uint64_t all = UINT64_MAX >> (64 - 8 * i->element_bytes);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t at = host + access->address[l];
        for (unsigned k = 0; k < i->elements; k++, at += i->element_bytes)
            if ((get_lane(w, i->memory.value[k], i->lane_bytes, l) & all) !=
                load_element((const void *)(uintptr_t)at, i->element_bytes, false))
                return true;
    }
    return false;
}

/* For sched.c: a loop that waits may store what it sees, over and over in one place; one that works
 * may find that what it stores is there, but it goes from place to place. */
static __attribute__((noinline)) void note_store(struct warp *w, const struct insn *i,
                                                 const struct access *access)
{
    uint64_t at = access->address[__builtin_ctz(access->mask)];
    w->block->changed = changes_memory(w, i, access);
    if (w->stored != i || w->stored_address != at) w->block->wrote = true;
    w->stored = i;
    w->stored_address = at;
}

/* Of lanes that write one address the highest wins here; on a GPU it is undefined which. */
static void store(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_STORE, i->address.space, mask,
                (unsigned)i->element_bytes * i->elements);
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        if (!w->block->changed && access.space != PTX_LOCAL) note_store(w, i, &access);
        if (is_block_copy(i, &access)) {
            memcpy((void *)(uintptr_t)(access.host + access.address[0]),
                   LANES(u32, i->memory.value[0]), SLOT_32);
            continue;
        }
        if (i->elements > 1)
            store_vectors(w, i, &access);
        else
            store_elements(w, i, &access);
    }
}

/* One value for all lanes. */
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

/* A parameter by its name, which is nearly always so: the same for every lane. */
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
        memcpy(&value, launch->params + i->address.offset + (size_t)k * i->element_bytes,
               i->element_bytes);
        spread(w, i->memory.value[k], i->lane_bytes, mask,
               load_element(&value, i->element_bytes, i->is_signed));
    }
    return true;
}

/* The address may be computed, and then each lane has its own. */
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

/* st.param and ld.param around calls and inside functions: bytes of the frame's area, which
 * decode.c has checked to be inside it. */
static void load_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    const uint8_t *area = w->frame->area + i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, area += i->element_bytes)
        for (uint32_t left = i->memory.value[k] == NO_SLOT ? 0 : mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t value = 0;
            copy_few(&value, area + (size_t)l * w->frame->area_bytes, i->element_bytes);
            set_lane(w, i->memory.value[k], i->lane_bytes, l,
                     load_element(&value, i->element_bytes, i->is_signed));
        }
}

static void store_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint8_t *area = w->frame->area + i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, area += i->element_bytes)
        for (uint32_t left = mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t value = get_lane(w, i->memory.value[k], i->lane_bytes, l);
            copy_few(area + (size_t)l * w->frame->area_bytes, &value, i->element_bytes);
        }
}

/* ---- atomics ------------------------------------------------------------------------------- */

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t as_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What the word becomes: `old` is there, b and c are the operands. */
static uint64_t combined(const struct insn *i, uint64_t old, uint64_t b, uint64_t c)
{
    bool wide = i->element_bytes == 8, less;
    switch ((enum atomic)i->atomic.operation) {
    case ATOMIC_ADD:
        if (!i->atomic.is_float) return old + b;
        if (wide) return as_bits(as_double(old) + as_double(b));
        union {
            uint32_t bits;
            float value;
        } x = {.bits = (uint32_t)old}, y = {.bits = (uint32_t)b};
        x.value += y.value;
        return x.bits;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        if (!i->is_signed)
            less = old < b;
        else if (wide)
            less = (int64_t)old < (int64_t)b;
        else
            less = (int32_t)old < (int32_t)b;
        return less == (i->atomic.operation == ATOMIC_MIN) ? old : b;
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_EXCHANGE: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_INC: return old >= b ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

/* Changes the word at an address as one indivisible step. Returns what was there; *changed becomes
 * true if it has become something else. */
static inline uint64_t change(const struct insn *i, void *at, uint64_t b, uint64_t c, bool *changed)
{
    if (i->element_bytes == 8) {
        uint64_t seen = __atomic_load_n((byte_64 *)at, __ATOMIC_SEQ_CST), value;
        do value = combined(i, seen, b, c);
        while (!__atomic_compare_exchange_n((byte_64 *)at, &seen, value, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
        *changed |= value != seen;
        return seen;
    }
    uint32_t seen = __atomic_load_n((byte_32 *)at, __ATOMIC_SEQ_CST), value;
    do value = (uint32_t)combined(i, seen, b, c);
    while (!__atomic_compare_exchange_n((byte_32 *)at, &seen, value, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
    *changed |= value != seen;
    return seen;
}

/* The same in shared memory, which no other host thread sees. */
static inline uint64_t change_shared(const struct insn *i, void *at, uint64_t b, uint64_t c,
                                     bool *changed)
{
    uint64_t old = load_element(at, i->element_bytes, false), value = combined(i, old, b, c);
    store_element(at, value, i->element_bytes);
    *changed |= value != old;
    return old;
}

bool EMU_PASTE(access_combine_, EMU_ISA)(const struct insn *i, void *at, const void *operand)
{
    bool changed = false;
    change(i, at, load_element(operand, i->element_bytes, false), 0, &changed);
    return changed;
}

/* Of a word in which a cooperative grid counts its blocks: they have passed a barrier. */
static void note_change(struct warp *w, const struct access *access)
{
    emu_addr words = w->block->launch->workspace;
    uint64_t at = access->address[__builtin_ctz(access->mask)];
    if (words && access->space == PTX_GLOBAL && at - words < WORKSPACE_BYTES)
        w->block->passed = true;
    else
        w->block->changed = true;
}

/* Lanes one after the other. */
static void atomic(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_ATOMIC, i->address.space, mask, i->element_bytes);
    int first = __builtin_ctz(mask);
    uint64_t place = address_of(w, &i->address, first);
    bool changed = false;
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        for (uint32_t left = access.mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t b = get_lane(w, i->b, i->lane_bytes, l);
            uint64_t c = i->c == NO_SLOT ? 0 : get_lane(w, i->c, i->lane_bytes, l);
            void *at = (void *)(uintptr_t)(access.host + access.address[l]);
            uint64_t old = access.space == PTX_SHARED ? change_shared(i, at, b, c, &changed)
                                                      : change(i, at, b, c, &changed);
            if (i->d != NO_SLOT) set_lane(w, i->d, i->lane_bytes, l, old);
        }
        if (changed && !w->block->changed) note_change(w, &access);
    }
    /* One that has a result and changes nothing may wait for others. */
    if (!changed && i->d != NO_SLOT &&
        warp_polls(w, i, place, get_lane(w, i->d, i->lane_bytes, first)))
        return;
    /* A loop of atomics is often one that waits for another warp: it uses its time slice up
     * sooner. */
    enum { ATOMIC_COST = 64 };
    w->fuel = w->fuel > ATOMIC_COST ? w->fuel - ATOMIC_COST : 1;
}

/* ---- generic addresses --------------------------------------------------------------------- */

static void convert_address(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 *d = LANES(u64, i->d);
    const lane_64 *a = LANES(u64, i->a);
    FOR_LANES(d, a[l] + (uint64_t)i->cvta.distance);
}

/* The block's own shared memory is part of its cluster's. */
static bool is_in(const struct block *block, uint64_t address, enum ptx_space space)
{
    if (space == PTX_SHARED)
        return address - SHARED_WINDOW - shared_window(block->rank) < shared_window(1);
    return space_of(address) == (space == PTX_SHARED_CLUSTER ? PTX_SHARED : space);
}

static void is_space(struct warp *w, const struct insn *i, uint32_t mask)
{
    const lane_64 *a = LANES(u64, i->a);
    uint32_t bits = 0;
    for (int l = 0; l < WARP; l++)
        bits |= (uint32_t)(is_in(w->block, a[l], i->isspacep.space)) << l;
    set_predicate(w, i->d, mask, bits);
}

static const struct op entries[] = {
    {"ld", load, ""},           {"ld.polled", load_polled, ""},
    {"st", store, ""},          {"ld.param", load_param, ""},
    {"ld.area", load_area, ""}, {"st.area", store_area, ""},
    {"atom", atomic, ""},       {"cvta", convert_address, ""},
    {"isspacep", is_space, ""},
};
DEFINE_OP_TABLE(ops_access, entries);

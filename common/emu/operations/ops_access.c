/*
 * ops_access.c — loads and stores (PTX ISA, "ld", "st"). The door (ops_door.c) checks each access
 * and finds its bytes; this file moves the bytes.
 */
#include "ops_access.h"
#include <string.h>

/*
 * Moves one lane's aligned vector at once, without tearing. Programs rely on that: they pack a flag
 * and a value into one vector and read it without a lock while another block writes it. GPUs, and
 * all x86 CPUs with AVX, move 16 bytes at once.
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

/* Do all 32 lanes access adjacent 4-byte elements in order? Then the access is a copy of 128 bytes.
 * */
static inline bool is_block_copy(const struct insn *i, const struct access *access)
{
    if (access->mask != ALL_LANES || i->elements != 1 || i->element_bytes != 4 ||
        i->lane_bytes != 4)
        return false;
    uint64_t gap = 0;
    for (int l = 0; l < WARP; l++) gap |= access->address[l] - access->address[0] - 4 * (uint64_t)l;
    return !gap;
}

/* Runs a statement for each active lane, l. The loop over all lanes, the usual case, can be
 * vectorized. */
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

/* Loads one element per lane. Each width and kind has its own loop, so the choice is made once per
 * access and not per lane. */
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

/* Loads .v4 with elements of 4 bytes, the most frequent vector. */
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
    uint64_t address = address_of(w, &i->address, lane); /* the load may overwrite the register */
    load(w, i, mask);
    if (i->memory.value[0] != NO_SLOT)
        warp_polls(w, i, address, get_lane(w, i->memory.value[0], i->lane_bytes, lane));
}

/* Does a store change memory? Nearly always it does, and the first lane already shows it. */
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

/* Tells scheduler.c whether the warp makes progress. A loop that waits may store the same value at
 * the same address again and again. A loop that works may also store values that are already there,
 * but at changing addresses. */
static __attribute__((noinline)) void note_store(struct warp *w, const struct insn *i,
                                                 const struct access *access)
{
    uint64_t at = access->address[__builtin_ctz(access->mask)];
    w->block->changed = changes_memory(w, i, access);
    if (w->stored != i || w->stored_address != at) w->block->wrote = true;
    w->stored = i;
    w->stored_address = at;
}

/* If several lanes store to the same address, the highest lane wins here. On a GPU it is undefined
 * which lane wins. */
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

static const struct op entries[] = {
    {"ld", load, ""}, {"ld.polled", load_polled, ""}, {"st", store, ""}};
DEFINE_OP_TABLE(ops_access, entries);

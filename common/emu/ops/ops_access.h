/*
 * ops_access.h — what loads, stores and atomics share: computing addresses, and moving elements
 * between memory and registers. Only for the ops_*.c files, which are compiled for several
 * instruction sets.
 */
#ifndef EMU_OPS_ACCESS_H
#define EMU_OPS_ACCESS_H

#include "common/emu/machine/access.h"
#include "ops.h"

/* The door in operations_ops_door.c; see access.h. */
#define access_door EMU_PASTE(access_door_, EMU_ISA)
uint32_t access_door(struct warp *, const struct insn *, struct access *);

/* The space of a generic address, by its window. */
static inline enum ptx_space space_of(uint64_t address)
{
    return address - SHARED_WINDOW < WINDOW_BYTES  ? PTX_SHARED
           : address - LOCAL_WINDOW < WINDOW_BYTES ? PTX_LOCAL
           : address - PARAM_WINDOW < WINDOW_BYTES ? PTX_PARAM
                                                   : PTX_GLOBAL;
}

/* Computes the lanes' addresses, register + offset; modulo 2^32 if the register has 32 bits. */
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

/* For each lane of a mask, which nearly always is all of them. */
#define EACH_LANE(mask, statement)                                                                 \
    do {                                                                                           \
        if ((mask) == ALL_LANES)                                                                   \
            for (int l = 0; l < WARP; l++) statement;                                              \
        else                                                                                       \
            for (uint32_t left = (mask); left; left &= left - 1) {                                 \
                int l = __builtin_ctz(left);                                                       \
                statement;                                                                         \
            }                                                                                      \
    } while (0)

/* ---- elements -------------------------------------------------------------------------------- */

typedef uint8_t byte_8 __attribute__((may_alias));
typedef uint16_t byte_16 __attribute__((may_alias));
typedef uint32_t byte_32 __attribute__((may_alias));
typedef uint64_t byte_64 __attribute__((may_alias));
typedef uint32_t byte_128 __attribute__((may_alias, vector_size(16))); /* four words */
typedef uint64_t byte_2x64 __attribute__((may_alias, vector_size(16)));

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

#endif

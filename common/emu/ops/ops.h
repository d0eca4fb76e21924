/*
 * ops.h — macros that define operations on 32 lanes, and the tables that list operations.
 *
 * Each ops_*.c holds one kind of operation and ends with a table from PTX's names to functions.
 * These files are compiled for processors with AVX2 (EMU_ISA = v3), for any processor (base), or
 * for both (emu.mk); operations.c chooses a table when the program starts. The loops over lanes are
 * plain, and the compiler vectorizes them.
 *
 * A PTX type (T) of 8 or 16 bits is stored as a wider type (L) for each lane.
 */
#ifndef EMU_OPS_H
#define EMU_OPS_H

#include "common/emu/ptx/operations.h"
#include "common/emu/machine/machine.h"

struct op_table {
    const struct op *ops;
    size_t count;
};

#define EMU_PASTE_(a, b) a##b
#define EMU_PASTE(a, b)  EMU_PASTE_(a, b)
/* The table that an ops_*.c defines: ops_integer → ops_integer_v3. */
#define OP_TABLE(name) EMU_PASTE(name##_, EMU_ISA)
#define DEFINE_OP_TABLE(name, entries)                                                             \
    const struct op_table OP_TABLE(name) = {entries, sizeof(entries) / sizeof *(entries)}

#define INLINE static inline __attribute__((always_inline))

/* ---- types: T of the value, L of a lane, U unsigned as wide as T; W is the operand's letter */
typedef float lane_float __attribute__((may_alias));
typedef double lane_double __attribute__((may_alias));
typedef uint32_t lane_32 __attribute__((may_alias));
typedef uint64_t lane_64 __attribute__((may_alias));

#define T_u8  uint8_t
#define L_u8  lane_32
#define U_u8  uint8_t
#define W_u8  "4"
#define T_s8  int8_t
#define L_s8  lane_32
#define U_s8  uint8_t
#define W_s8  "4"
#define T_u16 uint16_t
#define L_u16 lane_32
#define U_u16 uint16_t
#define W_u16 "4"
#define T_s16 int16_t
#define L_s16 lane_32
#define U_s16 uint16_t
#define W_s16 "4"
#define T_u32 uint32_t
#define L_u32 lane_32
#define U_u32 uint32_t
#define W_u32 "4"
#define T_s32 int32_t
#define L_s32 lane_32
#define U_s32 uint32_t
#define W_s32 "4"
#define T_u64 uint64_t
#define L_u64 lane_64
#define U_u64 uint64_t
#define W_u64 "8"
#define T_s64 int64_t
#define L_s64 lane_64
#define U_s64 uint64_t
#define W_s64 "8"
#define T_f32 float
#define L_f32 lane_float
#define U_f32 float
#define W_f32 "4"
#define T_f64 double
#define L_f64 lane_double
#define U_f64 double
#define W_f64 "8"

/* The lanes of an operand, as an array. */
#define LANES(type, slot) ((L_##type *)slot_at(w, slot))

/* Tells gcc that no lane reads what another lane writes, so it may vectorize the loop. Clang needs
 * no hint; its own pragma would warn about loops that it cannot vectorize. */
#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EVERY_LANE INDEPENDENT for (int l = 0; l < WARP; l++)

/* Sets a predicate for the lanes in mask; does nothing for NO_SLOT. */
static inline void set_predicate(struct warp *w, slot s, uint32_t mask, uint32_t bits)
{
    if (s == NO_SLOT) return;
    uint32_t *p = slot_at(w, s);
    *p = (*p & ~mask) | (bits & mask);
}

/* d[lane] = value for the lanes in mask. `value` may use the lane's number, l. */
#define FOR_LANES(d, value)                                                                        \
    do {                                                                                           \
        if (mask == ALL_LANES) {                                                                   \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = (value);                             \
        } else {                                                                                   \
            INDEPENDENT for (int l = 0; l < WARP; l++)                                             \
            {                                                                                      \
                __typeof__(d[0] + 0) keep = d[l], set = (value);                                   \
                d[l] = mask >> l & 1 ? set : keep;                                                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Each of these defines the operation `id` on 32 lanes by its value for lane l. */
#define DEFINE_UNARY(id, key, type, value)                                                         \
    static inline T_##type id##_##type##_lane(T_##type a) { return (T_##type)(value); }            \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a);                                                     \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l]));                                \
    }
#define DEFINE_BINARY(id, key, type, value)                                                        \
    static inline T_##type id##_##type##_lane(T_##type a, T_##type b)                              \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l], (T_##type)b[l]));                \
    }
#define DEFINE_TERNARY(id, key, type, value)                                                       \
    static inline T_##type id##_##type##_lane(T_##type a, T_##type b, T_##type c)                  \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b), *c = LANES(type, i->c);     \
        FOR_LANES(d,                                                                               \
                  (U_##type)id##_##type##_lane((T_##type)a[l], (T_##type)b[l], (T_##type)c[l]));   \
    }
/* For shifts: a has the operation's type, b has 32 bits. */
#define DEFINE_SHIFT(id, key, type, value)                                                         \
    static inline T_##type id##_##type##_lane(T_##type a, uint32_t b)                              \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a);                                                     \
        const lane_32 *b = LANES(u32, i->b);                                                       \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l], b[l]));                          \
    }
/* For popc and clz: a has the operation's type, the result has 32 bits. */
#define DEFINE_COUNT(id, key, type, value)                                                         \
    static inline uint32_t id##_##type##_lane(T_##type a) { return (uint32_t)(value); }            \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const L_##type *a = LANES(type, i->a);                                                     \
        FOR_LANES(d, id##_##type##_lane((T_##type)a[l]));                                          \
    }

#define ENTRY_UNARY(id, key, type, value)  {key "." #type, id##_##type, W_##type W_##type},
#define ENTRY_BINARY(id, key, type, value) {key "." #type, id##_##type, W_##type W_##type W_##type},
#define ENTRY_TERNARY(id, key, type, value)                                                        \
    {key "." #type, id##_##type, W_##type W_##type W_##type W_##type},
#define ENTRY_SHIFT(id, key, type, value) {key "." #type, id##_##type, W_##type W_##type "4"},
#define ENTRY_COUNT(id, key, type, value) {key "." #type, id##_##type, "4" W_##type},

#endif

/*
 * ops_half.h — operations on 16-bit floats, for the ops_*.c files: each is defined twice, for one
 * value a lane, and for two packed values (x2). They are computed in float or double with enough
 * bits, and rounded once.
 */
#ifndef EMU_OPS_HALF_H
#define EMU_OPS_HALF_H

#include "common/emu/decode/half.h"
#include "ops.h"

static inline float canonical(float value)
{
    return value == value ? value : f32_of_bits(0x7fffffff);
}
static inline uint16_t f16(double value) { return f16_of_f64(value, ROUND_NEAREST); }
static inline uint16_t bf16(double value) { return bf16_of_f64(value, ROUND_NEAREST); }

/* From id_type_one(), which has the low 16 bits of each operand, and whether to flush. */
#define DEFINE_HALVES_1(id, type)                                                                  \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush));                                     \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush) |                                     \
                         id##_##type##_one(a[l] >> 16, i->rules.flush) << 16);                     \
    }
#define DEFINE_HALVES_2(id, type)                                                                  \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, id##_##type##_one(a[l], b[l], i->rules.flush));                               \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, id##_##type##_one(a[l], b[l], i->rules.flush) |                               \
                         id##_##type##_one(a[l] >> 16, b[l] >> 16, i->rules.flush) << 16);         \
    }
#define ENTRY_HALVES_1(id, type)                                                                   \
    {#id "." #type, id##_##type, "44"}, {#id "." #type "x2", id##_##type##x2, "44"},

/* An operation by its value for the floats a and b. */
#define DEFINE_HALF_BINARY(id, key, type, value)                                                   \
    static inline uint32_t id##_##type##_one(uint32_t p, uint32_t q, bool flush)                   \
    {                                                                                              \
        float a = f32_of_##type(flush_##type((uint16_t)p, flush));                                 \
        float b = f32_of_##type(flush_##type((uint16_t)q, flush));                                 \
        return flush_##type(type(value), flush);                                                   \
    }                                                                                              \
    DEFINE_HALVES_2(id, type)
#define ENTRY_HALF_BINARY(id, key, type, value)                                                    \
    {key "." #type, id##_##type, "444"}, {key "." #type "x2", id##_##type##x2, "444"},

#endif

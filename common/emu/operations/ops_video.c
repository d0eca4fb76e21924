/*
 * ops_video.c — the SIMD video instructions (PTX ISA, "Video Instructions"): the absolute
 * differences that nvcc writes for __vabsdiffu4 and __vsadu4, and those that inline assembly uses
 * without selectors. All others are refused by name.
 */
#include "ops.h"

/* Absolute differences of bytes or halves. Each is stored in its place, or all are added to c. */
static inline uint32_t differ(uint32_t a, uint32_t b, int bits, bool is_signed, uint32_t *sum)
{
    uint32_t result = 0, ones = (UINT32_C(1) << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        int32_t x = (int32_t)(a >> at & ones), y = (int32_t)(b >> at & ones);
        if (is_signed) {
            x = (int32_t)((uint32_t)x << (32 - bits)) >> (32 - bits);
            y = (int32_t)((uint32_t)y << (32 - bits)) >> (32 - bits);
        }
        uint32_t difference = (uint32_t)(x < y ? y - x : x - y);
        result |= (difference & ones) << at;
        *sum += difference;
    }
    return result;
}
static inline uint32_t differ_each(uint32_t a, uint32_t b, int bits, bool is_signed)
{
    uint32_t sum = 0;
    return differ(a, b, bits, is_signed, &sum);
}
static inline uint32_t differ_sum(uint32_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
    differ(a, b, bits, is_signed, &c);
    return c;
}

/* vabsdiff4.u32.u32.u32 d, a, b, c; c would fill the bytes that the result leaves out, but the
 * result always covers all bytes. */
#define DIFFERENCES(X)                                                                             \
    X(2, u, 16, false) X(2, s, 16, true) X(4, u, 8, false) X(4, s, 8, true)
#define DEFINE_DIFFERENCE(n, sign, bits, is_signed)                                                \
    static void each_##n##sign(struct warp *w, const struct insn *i, uint32_t mask)                \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, differ_each(a[l], b[l], bits, is_signed));                                    \
    }                                                                                              \
    static void sum_##n##sign(struct warp *w, const struct insn *i, uint32_t mask)                 \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b), *c = LANES(u32, i->c);         \
        FOR_LANES(d, differ_sum(a[l], b[l], c[l], bits, is_signed));                               \
    }
/* A key has the type of b first, then those of d and a. */
#define ENTRY_DIFFERENCE(n, sign, bits, is_signed)                                                 \
    {"vabsdiff" #n "." #sign "32.u32." #sign "32", each_##n##sign, "4444"},                        \
    {"vabsdiff" #n "." #sign "32.s32." #sign "32", each_##n##sign, "4444"},                        \
    {"vabsdiff" #n "." #sign "32.add.u32." #sign "32", sum_##n##sign, "4444"},                     \
    {"vabsdiff" #n "." #sign "32.add.s32." #sign "32", sum_##n##sign, "4444"},
DIFFERENCES(DEFINE_DIFFERENCE)

static const struct op entries[] = {DIFFERENCES(ENTRY_DIFFERENCE)};
DEFINE_OP_TABLE(ops_video, entries);

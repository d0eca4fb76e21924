/*
 * ops_video.c — the SIMD video instructions (PTX ISA, "Video Instructions"): absolute
 * differences without selectors, which nvcc writes for __vabsdiffu4 and __vsadu4. All others are
 * refused by name.
 */
#include "ops.h"

/* A part of a word, which has `bits` bits. */
static inline int32_t part_of(uint32_t word, int at, int bits, bool is_signed)
{
    uint32_t moved = word << (32 - bits - at);
    return is_signed ? (int32_t)moved >> (32 - bits) : (int32_t)(moved >> (32 - bits));
}

/* Absolute differences of bytes or halves. Each is stored in its place, but at most `most`; all are
 * also added to *sum. */
static inline uint32_t differ(uint32_t a, uint32_t b, int bits, bool a_signed, bool b_signed,
                              uint32_t most, uint32_t *sum)
{
    uint32_t result = 0, ones = (UINT32_C(1) << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        int32_t x = part_of(a, at, bits, a_signed), y = part_of(b, at, bits, b_signed);
        uint32_t difference = (uint32_t)(x < y ? y - x : x - y);
        result |= ((difference > most ? most : difference) & ones) << at;
        *sum += difference;
    }
    return result;
}
static inline uint32_t differ_each(uint32_t a, uint32_t b, int bits, bool a_signed, bool b_signed,
                                   uint32_t most)
{
    uint32_t sum = 0;
    return differ(a, b, bits, a_signed, b_signed, most, &sum);
}
static inline uint32_t differ_sum(uint32_t a, uint32_t b, uint32_t c, int bits, bool a_signed,
                                  bool b_signed)
{
    differ(a, b, bits, a_signed, b_signed, UINT32_MAX, &c);
    return c;
}

/* vabsdiff4.u32.u32.u32 d, a, b, c; c would fill the bytes that the result leaves out, but the
 * result always covers all bytes. */
#define SIGNS(X, n) X(n, u, u) X(n, u, s) X(n, s, u) X(n, s, s)
#define DIFFERENCES(X) SIGNS(X, 2) SIGNS(X, 4)
#define IS_u false
#define IS_s true
#define DEFINE_EACH(name, n, ta, tb, most)                                                         \
    static void name##_##n##ta##tb(struct warp *w, const struct insn *i, uint32_t mask)            \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b);                                \
        FOR_LANES(d, differ_each(a[l], b[l], 32 / n, IS_##ta, IS_##tb, most));                     \
    }
#define DEFINE_DIFFERENCE(n, ta, tb)                                                               \
    DEFINE_EACH(each, n, ta, tb, UINT32_MAX)                                                       \
    DEFINE_EACH(unsigned, n, ta, tb, UINT32_MAX >> (32 - 32 / n))                                  \
    DEFINE_EACH(signed, n, ta, tb, UINT32_MAX >> (33 - 32 / n))                                    \
    static void sum_##n##ta##tb(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a), *b = LANES(u32, i->b), *c = LANES(u32, i->c);         \
        FOR_LANES(d, differ_sum(a[l], b[l], c[l], 32 / n, IS_##ta, IS_##tb));                      \
    }
/* A key has the type of b first, then those of d and a. */
#define ENTRY_DIFFERENCE(n, ta, tb)                                                                \
    {"vabsdiff" #n "." #tb "32.u32." #ta "32", each_##n##ta##tb, "4444"},                          \
    {"vabsdiff" #n "." #tb "32.s32." #ta "32", each_##n##ta##tb, "4444"},                          \
    {"vabsdiff" #n "." #tb "32.sat.u32." #ta "32", unsigned_##n##ta##tb, "4444"},                  \
    {"vabsdiff" #n "." #tb "32.sat.s32." #ta "32", signed_##n##ta##tb, "4444"},                    \
    {"vabsdiff" #n "." #tb "32.add.u32." #ta "32", sum_##n##ta##tb, "4444"},                       \
    {"vabsdiff" #n "." #tb "32.add.s32." #ta "32", sum_##n##ta##tb, "4444"},
DIFFERENCES(DEFINE_DIFFERENCE)

static const struct op video_entries[] = {DIFFERENCES(ENTRY_DIFFERENCE)};
DEFINE_OP_TABLE(ops_video, video_entries);

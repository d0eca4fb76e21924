/* warp.c — instructions that exchange values among the lanes of a warp, and those that read a
 * lane's own properties: shfl, vote, match, redux, special registers. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32 };

static bool member(uint32_t mask, unsigned lane) { return mask >> lane & 1; }

/* Runs a body on one warp with in[lane] in %r0, result in %r1. */
static void run_warp(struct emu *emu, const char *body, const uint32_t in[LANES],
                     uint32_t out[LANES])
{
    char *text =
        ptx_kernel("ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, 0;\nmov.u32 %%r2, %%laneid;\n"
                   "%s\nst.global.u32 [%%out], %%r1;\nret;\n",
                   body);
    run_kernel(emu, text, LANES, LANES, out, in);
    free(text);
}

static void fill(uint32_t in[LANES], uint64_t seed)
{
    for (unsigned n = 0; n < LANES; n++) in[n] = (uint32_t)next_random(&seed);
}

/* ---- shfl ------------------------------------------------------------------------------------ */

/* PTX ISA, shfl.sync: the low five bits of c clamp, bits 8 to 12 cut the warp into segments. */
static unsigned source_lane(char mode, unsigned lane, uint32_t b, uint32_t c, bool *in_range)
{
    int clamp = (int)(c & 31), segment = (int)(c >> 8 & 31), value = (int)(b & 31), at = (int)lane;
    int highest = (at & segment) | (clamp & ~segment), lowest = at & segment;
    int j = mode == 'u'   ? at - value
            : mode == 'd' ? at + value
            : mode == 'b' ? at ^ value
                          : lowest | (value & ~segment);
    *in_range = mode == 'u' ? j >= highest : j <= highest;
    return *in_range ? (unsigned)j : lane;
}

Test(emu_warp, shuffles)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t clamps[] = {0, 31, 0x1c1f, 0x181f, 0x101f, 0x1e00, 0x1000, 15, 0x0f07};
    static const uint32_t amounts[] = {0, 1, 2, 3, 5, 8, 16, 31, 32, 33};
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 11);
    for (size_t m = 0; m < 4; m++)
        for (size_t c = 0; c < sizeof clamps / sizeof *clamps; c++)
            for (size_t b = 0; b < sizeof amounts / sizeof *amounts; b++) {
                char body[256];
                /* The predicate replaces the lowest bit of the data. */
                snprintf(body, sizeof body,
                         "shfl.sync.%s.b32 %%r1|%%p0, %%r0, %u, 0x%x, 0xffffffff;\n"
                         "and.b32 %%r1, %%r1, 0xfffffffe;\nselp.b32 %%r3, 1, 0, %%p0;\n"
                         "or.b32 %%r1, %%r1, %%r3;",
                         modes[m], amounts[b], clamps[c]);
                run_warp(emu, body, in, out);
                for (unsigned n = 0; n < LANES; n++) {
                    bool in_range;
                    unsigned from = source_lane(modes[m][0], n, amounts[b], clamps[c], &in_range);
                    uint32_t want = (in[from] & ~1u) | in_range;
                    cr_expect(out[n] == want, "shfl.%s %u, 0x%x: lane %u: got 0x%x, want 0x%x",
                              modes[m], amounts[b], clamps[c], n, out[n], want);
                }
            }
    emu_close(emu);
}

/* Every lane with its own source, operands in registers; and the form without a predicate. */
Test(emu_warp, shuffle_operands_in_registers)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 12);
    run_warp(emu,
             "xor.b32 %r3, %r2, 21;\nmov.u32 %r4, 31;\nmov.u32 %r5, -1;\n"
             "shfl.sync.idx.b32 %r1, %r0, %r3, %r4, %r5;",
             in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n ^ 21], "lane %u", n);
    run_warp(emu, "mov.b32 %f0, %r0;\nshfl.sync.down.b32 %f1, %f0, 4, 31, -1;\nmov.b32 %r1, %f1;",
             in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n < 28 ? n + 4 : n], "lane %u", n);
    run_warp(emu, "shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;\nmov.b32 %r1, %r0;", in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n ^ 1], "in place, lane %u", n);
    emu_close(emu);
}

/* ---- vote, match, redux ---------------------------------------------------------------------- */

/* Only the lanes of a mask take part; the others are in another branch. */
#define AMONG(mask, text)                                                                          \
    "mov.u32 %r9, " mask ";\nshr.u32 %r8, %r9, %r2;\nand.b32 %r8, %r8, 1;\n"                       \
    "setp.eq.u32 %p9, %r8, 0;\n@%p9 bra OUTSIDE;\n" text "\nOUTSIDE:"

static uint32_t ballot(const uint32_t in[LANES], uint32_t mask)
{
    uint32_t result = 0;
    for (unsigned n = 0; n < LANES; n++) result |= (member(mask, n) && in[n] & 1) ? 1u << n : 0;
    return result;
}

Test(emu_warp, votes)
{
    static const struct {
        const char *mask;
        uint32_t value;
    } masks[] = {
        {"0xffffffff", 0xffffffff}, {"0x0000ffff", 0xffff}, {"0x55555555", 0x55555555},
        {"0x80000001", 0x80000001}, {"0x00000010", 0x10},
    };
    static const char *const bodies[] = {
        "vote.sync.ballot.b32 %r1, %p0, %r9;",
        "vote.ballot.sync.b32 %r1, %p0, %r9;", /* the order that CUB writes */
        "vote.sync.any.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.all.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.uni.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.all.pred %p1, !%p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
    };
    struct emu *emu = open_emu();
    for (size_t kind = 0; kind < 4; kind++) /* random, all, none, one */
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
                uint32_t in[LANES], out[LANES], mask = masks[m].value;
                fill(in, 13);
                for (unsigned n = 0; n < LANES && kind; n++)
                    in[n] = kind == 1 || (kind == 3 && n == 16);
                char body[512];
                snprintf(body, sizeof body,
                         "and.b32 %%r3, %%r0, 1;\nsetp.ne.u32 %%p0, %%r3, 0;\nmov.u32 %%r9, %s;\n"
                         "shr.u32 %%r8, %%r9, %%r2;\nand.b32 %%r8, %%r8, 1;\nsetp.eq.u32 %%p9, "
                         "%%r8, 0;\n"
                         "@%%p9 bra OUTSIDE;\n%s\nOUTSIDE:",
                         masks[m].mask, bodies[b]);
                run_warp(emu, body, in, out);
                uint32_t yes = ballot(in, mask);
                uint32_t wants[] = {yes,     yes, yes != 0, yes == mask, yes == 0 || yes == mask,
                                    yes == 0};
                for (unsigned n = 0; n < LANES; n++)
                    cr_expect(out[n] == (member(mask, n) ? wants[b] : 0),
                              "%s mask %s, lane %u: got 0x%x, want 0x%x", bodies[b], masks[m].mask,
                              n, out[n], wants[b]);
            }
    emu_close(emu);
}

Test(emu_warp, matches)
{
    struct emu *emu = open_emu();
    for (unsigned values = 1; values <= 8; values++) {
        uint32_t in[LANES], out[LANES];
        fill(in, values);
        for (unsigned n = 0; n < LANES; n++) in[n] %= values;
        run_warp(emu, "match.any.sync.b32 %r1, %r0, 0xffffffff;", in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t want = 0;
            for (unsigned i = 0; i < LANES; i++) want |= in[i] == in[n] ? 1u << i : 0;
            cr_expect(out[n] == want, "any of %u, lane %u: got 0x%x, want 0x%x", values, n, out[n],
                      want);
        }
        run_warp(
            emu,
            "mov.b64 %l0, {%r0, %r0};\n" AMONG("0x00ffff00", "match.any.sync.b64 %r1, %l0, %r9;"),
            in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t want = 0;
            for (unsigned i = 8; i < 24; i++) want |= in[i] == in[n] ? 1u << i : 0;
            if (n < 8 || n >= 24) want = 0;
            cr_expect(out[n] == want, "any of %u in 64 bits, lane %u: 0x%x", values, n, out[n]);
        }
        run_warp(emu,
                 "match.all.sync.b32 %r1|%p0, %r0, 0xffffffff;\nselp.b32 %r3, 1, 0, %p0;\n"
                 "xor.b32 %r1, %r1, %r3;",
                 in, out);
        bool same = true;
        for (unsigned n = 0; n < LANES; n++) same &= in[n] == in[0];
        for (unsigned n = 0; n < LANES; n++)
            cr_expect(out[n] == (same ? 0xfffffffe : 0), "all of %u: lane %u: 0x%x", values, n,
                      out[n]);
    }
    emu_close(emu);
}

static uint32_t reduce(const char *op, const uint32_t in[LANES], uint32_t mask)
{
    uint32_t r = 0;
    bool first = true;
    for (unsigned n = 0; n < LANES; n++) {
        if (!member(mask, n)) continue;
        uint32_t x = in[n];
        if (first)
            r = x;
        else if (!strncmp(op, "add", 3))
            r += x;
        else if (!strcmp(op, "min.u32"))
            r = x < r ? x : r;
        else if (!strcmp(op, "max.u32"))
            r = x > r ? x : r;
        else if (!strcmp(op, "min.s32"))
            r = (int32_t)x < (int32_t)r ? x : r;
        else if (!strcmp(op, "max.s32"))
            r = (int32_t)x > (int32_t)r ? x : r;
        else if (!strcmp(op, "and.b32"))
            r &= x;
        else if (!strcmp(op, "or.b32"))
            r |= x;
        else if (!strcmp(op, "xor.b32"))
            r ^= x;
        else
            cr_assert_fail("no reduction '%s'", op);
        first = false;
    }
    return r;
}

Test(emu_warp, reductions)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};
    static const struct {
        const char *mask;
        uint32_t value;
    } masks[] = {{"0xffffffff", 0xffffffff}, {"0x0f0f0f0f", 0x0f0f0f0f}, {"0x00000400", 0x400}};
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 17);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t m = 0; m < 3; m++) {
            char body[512];
            snprintf(
                body, sizeof body,
                "mov.u32 %%r9, %s;\nshr.u32 %%r8, %%r9, %%r2;\nand.b32 %%r8, %%r8, 1;\n"
                "setp.eq.u32 %%p9, %%r8, 0;\n@%%p9 bra OUTSIDE;\nredux.sync.%s %%r1, %%r0, %%r9;\n"
                "OUTSIDE:",
                masks[m].mask, ops[o]);
            run_warp(emu, body, in, out);
            uint32_t want = reduce(ops[o], in, masks[m].value);
            for (unsigned n = 0; n < LANES; n++)
                cr_expect(out[n] == (member(masks[m].value, n) ? want : 0),
                          "redux.%s mask %s, lane %u: got 0x%x, want 0x%x", ops[o], masks[m].mask,
                          n, out[n], want);
        }
    emu_close(emu);
}

/* ---- special registers ----------------------------------------------------------------------- */

Test(emu_warp, special_registers)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES] = {0}, out[LANES];
    static const char *const masks[] = {"eq", "le", "lt", "ge", "gt"};
    for (size_t i = 0; i < 5; i++) {
        char body[64];
        snprintf(body, sizeof body, "mov.u32 %%r1, %%lanemask_%s;", masks[i]);
        run_warp(emu, body, in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t below = (1u << n) - 1, self = 1u << n;
            uint32_t wants[] = {self, below | self, below, ~below, ~(below | self)};
            cr_expect(out[n] == wants[i], "%%lanemask_%s, lane %u: 0x%x", masks[i], n, out[n]);
        }
    }
    run_warp(emu, "mov.u32 %r1, %nwarpid;", in, out); /* at least the warps that there are */
    cr_expect(out[0] >= 1 && out[0] <= 64, "%%nwarpid %u", out[0]);
    run_warp(emu,
             "mov.u32 %r3, %smid;\nmov.u32 %r4, %nsmid;\nsetp.lt.u32 %p0, %r3, %r4;\n"
             "selp.b32 %r1, 1, 0, %p0;",
             in, out);
    cr_expect(out[0] == 1, "%%smid is not below %%nsmid");
    emu_close(emu);
}

/* Clocks only have to advance. */
Test(emu_warp, clocks_advance)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES] = {0}, out[LANES];
    static const char *const clocks[] = {"%clock64", "%globaltimer"};
    for (size_t i = 0; i < 2; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "mov.u64 %%l0, %s;\nAGAIN: mov.u64 %%l1, %s;\nsetp.le.u64 %%p0, %%l1, %%l0;\n"
                 "@%%p0 bra AGAIN;\nmov.u32 %%r1, 1;",
                 clocks[i], clocks[i]);
        run_warp(emu, body, in, out);
        cr_expect(out[0] == 1 && out[31] == 1);
    }
    run_warp(emu, "mov.u32 %r3, %clock;\nnanosleep.u32 100;\nmov.u32 %r4, %clock;\nmov.u32 %r1, 1;",
             in, out);
    cr_expect(out[5] == 1);
    emu_close(emu);
}

/*
 * ops_rare.c — rare operations, and those that the emulator has not.
 */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* ---- the emulator must refuse, with a message, what it does not support ---------------------- */

/*
 * Everything in the tables of the other ops_*.c files is supported. This is the only list of legal
 * PTX for sm_90 that is not supported: loading the kernel must fail with EMU_UNSUPPORTED_PTX and
 * name the instruction and its line. An instruction that becomes supported moves to one of those
 * tables.
 */

static const struct {
    const char *text, *operands, *says;
} unsupported[] = {
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {$0, $0}, {$1, $1}, "
     "{$1, $1}, {$0, $0}, $1, 0;",
     "r=r", "mma.sp"},
    {"wgmma.fence.sync.aligned;", "r=r", "wgmma"},
    {"vadd.s32.s32.s32 $0, $1, $2;", "r=rr", "video instructions"},
    {"vadd4.u32.u32.u32 $0, $1, $2, $1;", "r=rr", "video instructions"},
    {"sured.b.add.1d.u32.trap [$1, {$2}], $2;", "r=lr", "surfaces"},
    {"istypep.texref $0, $1;", "p=l", "references"},
    {"multimem.ld_reduce.relaxed.sys.global.add.u32 $0, [$1];", "r=l", "multicast memory"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [$1], $1;", "r=l", "tensor map"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [$1], "
     "[$1];",
     "r=r", "clusterlaunchcontrol"},
    {"tcgen05.wait::ld.sync.aligned;", "r=r", "tcgen05"},
    {"red.global.add.noftz.v8.f16 [$1], {$0, $0, $0, $0, $0, $0, $0, $0};", "h=l", "vectors"},
};

Test(emu_ops_unsupported, are_refused_by_name)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++) {
        const char *text = unsupported[i].text;
        union value in[4] = {{0}}, out = {0};
        int e = ptx_run(emu, text, unsupported[i].operands, 1, in, &out);
        const char *message = emu_message(emu);
        char opcode[32] = "";
        memcpy(opcode, text, strcspn(text, ". "));
        cr_expect(e == EMU_UNSUPPORTED_PTX, "%s: error %d: %s", text, e, message);
        cr_expect(strstr(message, opcode), "%s: the message does not name it: %s", text, message);
        cr_expect(strstr(message, unsupported[i].says), "%s: %s", text, message);
        cr_expect(strstr(message, "instead") || !strstr(message, "the emulator has no"),
                  "%s: the message does not say what to do: %s", text, message);
        cr_expect(strstr(message, "line "), "%s: the message has no line: %s", text, message);
        cr_expect(strstr(message, "kernel op"), "%s: the message names no kernel: %s", text,
                  message);
    }
    emu_close(emu);
}

/* ---- instructions that few programs use ------------------------------------------------------ */

/*
 * Instructions that few programs use, each on a few values whose results are known:
 * min and max of special kinds, 8-bit floats, tf32, video instructions, 128 bits.
 */

#define F(bits) 0x##bits##u

static const struct {
    const char *text, *operands;
    uint64_t in[3], want;
} rows[] = {
    /* 16-bit floats: 1 is 3c00 and 3f80, 2 is 4000 and 4000, NaN 7fff */
    {"min.NaN.f16 $0, $1, $2;", "h=hh", {0x3c00, 0x4000}, 0x3c00},
    {"min.NaN.f16 $0, $1, $2;", "h=hh", {0x3c00, 0x7e00}, 0x7fff},
    {"max.NaN.bf16x2 $0, $1, $2;", "r=rr", {0x3f804000, 0x4000ffff}, 0x40007fff},
    {"max.NaN.f16x2 $0, $1, $2;", "r=rr", {0xbc00c000, 0x8000bc00}, 0x8000bc00},
    {"min.xorsign.abs.bf16 $0, $1, $2;", "h=hh", {0xbf80, 0x4000}, 0xbf80},
    {"max.xorsign.abs.f16x2 $0, $1, $2;", "r=rr", {0xbc003c00, 0xc0004000}, 0x40004000},
    {"ex2.approx.f16 $0, $1;", "h=h", {0x3c00}, 0x4000},
    {"ex2.approx.ftz.bf16x2 $0, $1;", "r=r", {0x3f800000}, 0x40003f80},
    {"tanh.approx.f16x2 $0, $1;", "r=r", {0x00007c00}, 0x00003c00},
    {"tanh.approx.bf16 $0, $1;", "h=h", {0xff80}, 0xbf80},
    {"set.lt.f16x2.f16x2 $0, $1, $2;", "r=rr", {0x3c004000, 0x40003c00}, 0x3c000000},
    {"set.ge.bf16x2.bf16x2 $0, $1, $2;", "r=rr", {0x3f804000, 0x3f804040}, 0x3f800000},
    {"set.eq.u32.f16x2 $0, $1, $2;", "r=rr", {0x3c004000, 0x3c004001}, 0xffff0000},
    {"set.neu.u32.bf16x2 $0, $1, $2;", "r=rr", {0x7fff4000, 0x7fff4000}, 0xffff0000},
    {"{.reg .pred p, q; setp.gt.f16x2 p|q, $1, $2; selp.u32 $0, 1, 0, p; @q add.u32 $0, $0, 2;}",
     "r=rr",
     {0x40003c00, 0x3c004000},
     2},
    {"cvt.rni.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4000}, /* 2.5 to 2 */
    {"cvt.rpi.bf16.bf16 $0, $1;", "h=h", {0x4020}, 0x4040},
    {"cvt.rmi.bf16.bf16 $0, $1;", "h=h", {0xc020}, 0xc040},
    /* floats */
    {"min.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(40000000)}, F(bf800000)},
    {"max.ftz.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(c0000000)}, F(40000000)},
    {"max.NaN.xorsign.abs.f32 $0, $1, $2;", "r=rr", {F(bf800000), F(7fc00000)}, F(7fffffff)},
    {NEWER "min.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(bf800000), F(7fc00000)},
     F(bf800000)},
    {NEWER "max.NaN.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(bf800000), F(7fc00000)},
     F(7fffffff)},
    {NEWER "max.abs.f32 $0, $1, $2, $3;",
     "r=rrr",
     {F(40000000), F(c0400000), F(3f800000)},
     F(40400000)},
    /* integers */
    {"max.relu.s32 $0, $1, $2;", "r=rr", {(uint32_t)-7, (uint32_t)-3}, 0},
    {"min.relu.s32 $0, $1, $2;", "r=rr", {9, 4}, 4},
    {"max.relu.s16x2 $0, $1, $2;", "r=rr", {0xffff0005, 0xfffe0003}, 0x00000005},
    {"szext.clamp.s32 $0, $1, $2;", "r=rr", {0x1234f8ff, 12}, 0xfffff8ff},
    {"szext.clamp.s32 $0, $1, $2;", "r=rr", {0x1234f8ff, 40}, 0x1234f8ff},
    {"szext.wrap.u32 $0, $1, $2;", "r=rr", {0x1234f8ff, 36}, 0xf},
    {"vabsdiff4.u32.u32.u32 $0, $1, $2, $3;", "r=rrr", {0x01ff1020, 0x02000f21, 0}, 0x01ff0101},
    {"vabsdiff4.u32.s32.s32 $0, $1, $2, $3;", "r=rrr", {0x01ff1080, 0x02010f7f, 0}, 0x010201ff},
    {"vabsdiff4.u32.u32.u32.add $0, $1, $2, $3;", "r=rrr", {0x01ff1020, 0x02000f21, 7}, 265},
    {"vabsdiff2.u32.u32.u32.add $0, $1, $2, $3;", "r=rrr", {0x00010005, 0x00040001, 1}, 8},
    {"{.reg .pred p; setp.eq.u32 p, $1, 9; lop3.or.b32 $0|p, $1, $2, 0, 0xc0, p; @p add.u32 $0, "
     "$0, "
     "64;}",
     "r=rr",
     {6, 3},
     2 + 64},
    {"{.reg .pred p; setp.eq.u32 p, $1, 6; lop3.and.b32 _|p, $1, $2, 0, 0xc0, !p; selp.u32 $0, 1, "
     "0, "
     "p;}",
     "r=rr",
     {6, 3},
     0},
    /* bytes */
    {"{.reg .b8 a, b; mov.b16 {a, b}, $1; mov.b16 $0, {b, a};}", "h=h", {0x1234}, 0x3412},
    /* tf32: halves away from zero, to even, cut off */
    {"cvt.rna.tf32.f32 $0, $1;", "r=r", {F(3f801000)}, F(3f802000)},
    {"cvt.rn.tf32.f32 $0, $1;", "r=r", {F(3f801000)}, F(3f800000)},
    {"cvt.rn.relu.tf32.f32 $0, $1;", "r=r", {F(bf801000)}, 0},
    {"cvt.rz.tf32.f32 $0, $1;", "r=r", {F(bf801fff)}, F(bf800000)},
    {"cvt.rna.tf32.f32 $0, $1;", "r=r", {F(ff800000)}, F(ff800000)},
    /* 8-bit floats: the first is the high one. e4m3: 1 is 38, the largest 7e, the smallest 2^-9 */
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3f800000), F(c3e00000)}, 0x38fe},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(7f800000), F(7fc00000)}, 0x7e7f},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3b000000), F(3a800000)}, 0x0100},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(3f880000), F(3f980000)}, 0x383a},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 $0, $1, $2;", "h=rr", {F(bf800000), F(3f800000)}, 0x0038},
    {"cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "h=rr", {F(3f800000), F(48000000)}, 0x3c7b},
    {"cvt.rn.satfinite.e5m2x2.f16x2 $0, $1;", "h=r", {0xbc007c00}, 0xbc7b},
    {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r=h", {0x38fe}, 0x3c00df00},
    {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r=h", {0x017f}, 0x18007fff},
    {"cvt.rn.f16x2.e5m2x2 $0, $1;", "r=h", {0x3c7b}, 0x3c007b00},
    {"cvt.rn.relu.f16x2.e5m2x2 $0, $1;", "r=h", {0xbc3c}, 0x00003c00},
    /* 128 bits */
    {"{.reg .b128 q, s; mov.b128 q, {$1, $2}; mov.b128 s, q; mov.b128 {_, $0}, s;}",
     "l=ll",
     {11, 22},
     22},
    {"{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; mov.u64 $0, 3;}",
     "l=",
     {0},
     3},
};

Test(emu_ops_rare, give_known_results)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        union value in[3], out = {0};
        for (int k = 0; k < 3; k++) in[k].u64 = rows[i].in[k];
        int e = ptx_run(emu, rows[i].text, rows[i].operands, 1, in, &out);
        cr_expect(!e && out.u64 == rows[i].want, "%s: error %d, got 0x%llx, want 0x%llx %s",
                  rows[i].text, e, (unsigned long long)out.u64, (unsigned long long)rows[i].want,
                  e ? emu_message(emu) : "");
    }
    emu_close(emu);
}

/* ---- approximations -------------------------------------------------------------------------- */

/* All are the exact result, rounded, as the C library has it; also far beyond the range for which
 * PTX bounds the error, and where a warp has both. */
Test(emu_ops_rare, approximations_are_exact)
{
    static const struct {
        const char *text;
        double (*want)(double);
    } functions[] = {{"ex2.approx.f32 $0, $1;", exp2},
                     {"lg2.approx.f32 $0, $1;", log2},
                     {"sin.approx.f32 $0, $1;", sin},
                     {"cos.approx.f32 $0, $1;", cos},
                     {"tanh.approx.f32 $0, $1;", tanh}};
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0x49800000, 0x49800001, 0x7f7fffff,
                                     0x3f800000, 0xbf800000, 0xc3160000, 0x43000000, 0x42fe0000};
    enum { COUNT = 1 << 13, EDGES = sizeof edges / sizeof *edges };
    static union value in[COUNT], out[COUNT];
    struct emu *emu = open_emu();
    uint64_t seed = 1;
    for (unsigned n = 0; n < COUNT; n++) {
        uint64_t random = next_random(&seed);
        float near = (float)(int64_t)random * 0x1p-60f; /* up to 8 */
        in[n].u64 = n < EDGES ? edges[n] : (uint32_t)(random >> 16);
        if (n & 32) in[n].f32 = near;
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        cr_assert(!ptx_run(emu, functions[k].text, "f=f", COUNT, in, out), "%s", emu_message(emu));
        for (unsigned n = 0; n < COUNT; n++) {
            union value want = {.f32 = (float)functions[k].want((double)in[n].f32)};
            if (isnan(want.f32)) want.u64 = 0x7fffffff;
            cr_expect(want.u32 == out[n].u32, "%s of %x: %x, not %x", functions[k].text, in[n].u32,
                      out[n].u32, want.u32);
        }
    }
    emu_close(emu);
}

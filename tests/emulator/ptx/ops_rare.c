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

/* Calls of functions that the compiler has not inlined, and parameters that are addressed: the
 * message names the place. */
static const struct {
    const char *name, *text, *says;
} kernels[] = {
    {"call of a function that is not there",
     PTX_HEADER ".extern .func f(.param .b32 x);\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n{\n"
                ".param .b32 a;\nst.param.b32 [a], %r0;\ncall f, (a);\n}\nret;\n}\n",
     "'f'"},
    {"address of an argument",
     PTX_HEADER ".func f(.param .b32 x)\n{\nret;\n}\n"
                ".visible .entry k()\n{\n.reg .b64 %l<2>;\n{\n.param .b32 a;\n"
                "mov.b64 %l0, a;\ncall f, (a);\n}\nret;\n}\n",
     "'a'"},
};

Test(emu_ops_unsupported, kernels_are_refused_with_the_place)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct emu_module *module;
        struct emu_kernel *kernel;
        int e = emu_load(emu, kernels[i].text, strlen(kernels[i].text), "k.ptx", &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        const char *message = emu_message(emu);
        cr_expect(e == EMU_UNSUPPORTED_PTX || e == EMU_SYMBOL_NOT_FOUND, "%s: error %d: %s",
                  kernels[i].name, e, message);
        cr_expect(strstr(message, "k.ptx, line ") && strstr(message, kernels[i].says), "%s: %s",
                  kernels[i].name, message);
    }
    emu_close(emu);
}

/* A kernel is not refused because of a function that it does not call. */
Test(emu_ops_unsupported, only_what_a_kernel_uses_matters)
{
    struct emu *emu = open_emu();
    static const char text[] = PTX_HEADER
        ".func f(.param .b32 x)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r0, [x];\n"
        "vadd.s32.s32.s32 %r1, %r0, %r0;\nret;\n}\n"
        ".visible .entry bad()\n{\n.reg .b32 %r<2>;\nvadd.s32.s32.s32 %r1, %r0, %r0;\nret;\n}\n"
        ".visible .entry k()\n{\nret;\n}\n";
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    cr_expect(!launch(emu, kernel, 1, 32, 0, 0, NULL), "%s", emu_message(emu));
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

/* ---- atomics --------------------------------------------------------------------------------- */

enum { LANES = 32, WORDS = 8 };

/* 32 lanes in two blocks execute the instruction on the words at %l0. The first lane's result goes
 * behind them. */
static const struct {
    const char *name, *text;
    uint32_t before[WORDS], after[WORDS];
} atomics[] = {
    {"f16",
     "mov.b16 %h0, 0x3c00;\natom.global.add.noftz.f16 %h1, [%l0+2], %h0;\n",
     {0x00003c00},
     {0x54003c00}},
    {"bf16", "mov.b16 %h0, 0x3f80;\nred.global.add.noftz.bf16 [%l0], %h0;\n", {0}, {0x4280}},
    {"f16x2",
     "mov.b32 %r0, 0x40003c00;\natom.global.add.noftz.f16x2 %r1, [%l0], %r0;\n",
     {0x3c000000},
     {0x58085400}},
    {"bf16x2",
     "mov.b32 %r0, 0x40003f80;\nred.global.add.noftz.bf16x2 [%l0], %r0;\n",
     {0},
     {0x43004280}},
    {"cas.b16",
     "mov.b16 %h0, 7;\nmov.b16 %h1, 9;\natom.global.cas.b16 %h2, [%l0], %h0, %h1;\n",
     {0x00010007},
     {0x00010009}},
    {"v2.f32",
     "mov.f32 %f0, 1.0;\nmov.f32 %f1, 2.0;\n"
     "atom.global.add.v2.f32 {%f2, %f3}, [%l0], {%f0, %f1};\n",
     {0x3f800000},
     {0x42820000, 0x43000000}},
    {"v4.f32",
     "mov.f32 %f0, 1.0;\nred.global.add.v4.f32 [%l0+16], {%f0, %f0, %f0, %f0};\n",
     {5},
     {5, 0, 0, 0, 0x42800000, 0x42800000, 0x42800000, 0x42800000}},
    {"v2.f16x2",
     "mov.b32 %r0, 0x3c003c00;\n"
     "red.global.add.noftz.v2.f16x2 [%l0], {%r0, %r0};\n",
     {0},
     {0x54005400, 0x54005400}},
    {"exch.b128",
     "mov.u64 %l4, 5;\nmov.u64 %l5, 6;\nmov.b128 %q0, {%l4, %l5};\n"
     "atom.global.exch.b128 %q1, [%l0], %q0;\n",
     {1, 2, 3, 4},
     {5, 0, 6, 0}},
    {"cas.b128",
     "mov.u64 %l4, 5;\nmov.u64 %l5, 6;\nmov.b128 %q0, {%l4, %l5};\n"
     "mov.b128 %q1, {%l5, %l4};\natom.global.cas.b128 %q2, [%l0], %q0, %q1;\n"
     "mov.b128 %q0, {%l4, %l4};\natom.global.cas.b128 %q2, [%l0], %q0, %q1;\n",
     {5, 0, 6, 0},
     {6, 0, 5, 0}},
};

Test(emu_ops_rare, atomics)
{
    for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++) {
        struct emu *emu = open_emu_with(&(struct emu_config){.threads = 2});
        char text[2000];
        uint32_t got[WORDS];
        snprintf(text, sizeof text,
                 PTX_HEADER ".visible .entry k(.param .u64 words)\n{\n.reg .b16 %%h<4>;\n"
                            ".reg .b32 %%r<4>;\n.reg .f32 %%f<4>;\n.reg .b64 %%l<8>;\n"
                            ".reg .b128 %%q<4>;\nld.param.u64 %%l0, [words];\n%s\nret;\n}\n",
                 atomics[i].text);
        struct emu_kernel *kernel = load_kernel(emu, text, "k");
        emu_addr words = device_copy(emu, atomics[i].before, sizeof got);
        int e = launch(emu, kernel, 2, LANES, 0, 1, &words);
        cr_expect(!e, "%s: error %d: %s", atomics[i].name, e, emu_message(emu));
        emu_read(emu, got, words, sizeof got);
        for (int k = 0; k < WORDS; k++)
            cr_expect(got[k] == atomics[i].after[k], "%s: word %d: got 0x%x, want 0x%x",
                      atomics[i].name, k, got[k], atomics[i].after[k]);
        emu_close(emu);
    }
}

/* ---- wide accesses --------------------------------------------------------------------------- */

#define WIDE(text)                                                                                 \
    ".version 9.0\n.target sm_100\n.address_size 64\n"                                             \
    ".visible .entry k(.param .u64 to, .param .u64 from)\n{\n.reg .b32 %r<10>;\n"                  \
    ".reg .b64 %l<8>;\n.reg .b128 %q<2>;\nld.param.u64 %l0, [to];\n"                               \
    "ld.param.u64 %l1, [from];\n" text "\nret;\n}\n"

static const char *const copies[] = {
    WIDE("ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%l1];\n"
         "st.global.v8.b32 [%l0], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};"),
    WIDE("ld.global.nc.L1::no_allocate.v4.b64 {%l2, %l3, %l4, %l5}, [%l1];\n"
         "st.global.v4.b64 [%l0], {%l2, %l3, %l4, %l5};"),
    WIDE("ld.global.b128 %q0, [%l1];\nld.b128 %q1, [%l1+16];\nst.global.b128 [%l0], %q0;\n"
         "st.b128 [%l0+16], %q1;"),
    WIDE("mov.u64 %l7, 0;\nld.global.L2::cache_hint.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, "
         "%r7}, [%l1], %l7;\n"
         "st.global.L2::cache_hint.v4.b32 [%l0], {%r0, %r1, %r2, %r3}, %l7;\n"
         "st.global.v4.b32 [%l0+16], {%r4, %r5, %r6, %r7};"),
};

Test(emu_ops_rare, accesses_of_32_bytes)
{
    uint32_t from[WORDS], got[WORDS];
    for (unsigned k = 0; k < WORDS; k++) from[k] = 1000 + k;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        struct emu *emu = open_emu();
        struct emu_kernel *kernel = load_kernel(emu, copies[i], "k");
        uint64_t args[] = {device_copy(emu, NULL, sizeof got), device_copy(emu, from, sizeof from)};
        int e = launch(emu, kernel, 1, 1, 0, 2, args);
        cr_expect(!e, "%zu: error %d: %s", i, e, emu_message(emu));
        emu_read(emu, got, args[0], sizeof got);
        cr_expect(!memcmp(got, from, sizeof got), "%zu: the copy differs", i);
        emu_close(emu);
    }
}

/* A load that the compiler has widened may cross the end of an allocation with unused bytes, but
 * not with used ones. */
Test(emu_ops_rare, bytes_that_nobody_uses_need_not_be_there)
{
    static const struct {
        const char *mask;
        int error;
    } loads[] = {
        {"4095", 0}, {"0x0fff", 0}, {"65535", EMU_ILLEGAL_ADDRESS}, {"8191", EMU_ILLEGAL_ADDRESS}};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct emu *emu = open_emu();
        char text[1000];
        uint32_t from[3] = {7, 8, 9}, got[3];
        snprintf(text, sizeof text,
                 PTX_HEADER ".visible .entry k(.param .u64 to, .param .u64 from)\n{\n"
                            ".reg .b32 %%r<4>;\n.reg .b64 %%l<2>;\nld.param.u64 %%l0, [to];\n"
                            "ld.param.u64 %%l1, [from];\n.pragma \"used_bytes_mask %s\";\n"
                            "ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%l1];\n"
                            "st.global.u32 [%%l0], %%r0;\nst.global.u32 [%%l0+4], %%r1;\n"
                            "st.global.u32 [%%l0+8], %%r2;\nret;\n}\n",
                 loads[i].mask);
        struct emu_kernel *kernel = load_kernel(emu, text, "k");
        uint64_t args[] = {device_copy(emu, NULL, sizeof got), device_copy(emu, from, sizeof from)};
        int e = launch(emu, kernel, 1, 1, 0, 2, args);
        cr_expect(e == loads[i].error, "%s: error %d: %s", loads[i].mask, e, emu_message(emu));
        emu_read(emu, got, args[0], sizeof got);
        cr_expect(e || !memcmp(got, from, sizeof got), "%s: the values differ", loads[i].mask);
        emu_close(emu);
    }
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

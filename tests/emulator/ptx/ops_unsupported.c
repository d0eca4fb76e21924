/*
 * ops_unsupported.c — the emulator must refuse, with a message, what it does not support.
 *
 * Everything in the tables of the other ops_*.c files is supported. This is the only list of legal
 * PTX for sm_90 that is not supported: loading the kernel must fail with EMU_UNSUPPORTED_PTX and
 * name the instruction and its line. An instruction that becomes supported moves to one of those
 * tables.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

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

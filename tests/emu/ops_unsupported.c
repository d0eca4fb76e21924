/*
 * ops_unsupported.c — what the emulator does not do, it has to say.
 *
 * Everything in the tables of the other ops_*.c files is supported. This is the one list of legal
 * PTX for sm_90 that is not: asking for the kernel must fail with EMU_UNSUPPORTED_PTX and name the
 * instruction and its line. An instruction that becomes supported moves to one of those tables.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct { const char *text, *operands; } unsupported[] = {
    {"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.xor.popc {$0, $0}, {$1}, {$1}, {$0, $0};",
     "r=r"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $0}, {$1}, {$1}, {$0, $0};", "d=d"},
    {"vadd.s32.s32.s32 $0, $1, $2;", "r=rr"},
    {"vadd4.u32.u32.u32 $0, $1, $2, $1;", "r=rr"},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=ff"},
    {"tex.1d.v4.f32.s32 {$0, $0, $0, $0}, [$1, {$2}];", "f=lr"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", "r=r"},
    {"createpolicy.fractional.L2::evict_last.b64 $0;", "l="},
    {"szext.clamp.s32 $0, $1, $2;", "r=rr"},
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
        cr_expect(strstr(message, "line "), "%s: the message has no line: %s", text, message);
        cr_expect(strstr(message, "kernel op"), "%s: the message names no kernel: %s", text, message);
    }
    emu_close(emu);
}

/* insn.c — the fields of a decoded instruction: its operation, and the registers that it writes. */
#include "common/emu/machine/machine.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* These instructions come first. The slots of the tested instruction are compared with their
 * destinations. */
enum { R1, RD1, P1, TRIED };

#define BEFORE "mov.u32 %r1, 1;\nmov.u64 %rd1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n"

static const struct insn *decode(struct emu *emu, const char *instruction)
{
    char text[1000];
    snprintf(text, sizeof text,
             PTX_HEADER ".shared .align 16 .b8 s[64];\n"
                        ".visible .entry k()\n{\n"
                        ".reg .pred %%p<4>;\n.reg .b16 %%rs<4>;\n.reg .b32 %%r<6>;\n"
                        ".reg .b64 %%rd<6>;\n.reg .f32 %%f<6>;\n.reg .b128 %%q<3>;\n"
                        "%s%s\nEND: ret;\n}\n",
             BEFORE, instruction);
    return load_kernel(emu, text, "k")->code;
}

/* ---- families -------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum family family;
    enum control control;
} kinds[] = {
    {"add.u32 %r1, %r2, %r3;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"bfi.b32 %r1, %r2, %r3, 4, 5;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", FAMILY_LOGIC, CONTROL_NONE},
    {"lop3.or.b32 %r1|%p2, %r2, %r3, %r4, 0x96, !%p3;", FAMILY_LOGIC, CONTROL_NONE},
    {"setp.lt.s32 %p2|%p3, %r2, %r3;", FAMILY_COMPARE, CONTROL_NONE},
    {"set.lt.u32.s32 %r1, %r2, %r3;", FAMILY_COMPARE, CONTROL_NONE},
    {"cvt.rn.f32.s32 %f1, %r1;", FAMILY_CONVERT, CONTROL_NONE},
    {"mov.u32 %r1, %r2;", FAMILY_ARITHMETIC, CONTROL_NONE},
    {"mov.b64 %rd1, {%r1, %r2};", FAMILY_PACK, CONTROL_NONE},
    {"mov.b128 %q1, %q2;", FAMILY_WIDE_MOVE, CONTROL_NONE},
    {"mov.u32 %r1, %clock;", FAMILY_CLOCK, CONTROL_NONE},
    {"cvta.shared.u64 %rd1, %rd2;", FAMILY_CVTA, CONTROL_NONE},
    {"isspacep.shared %p1, %rd1;", FAMILY_ISSPACEP, CONTROL_NONE},
    {"alloca.u64 %rd1, %rd2;", FAMILY_ALLOCA, CONTROL_NONE},
    {"bra END;", FAMILY_BRANCH, CONTROL_BRANCH},
    {"ret;", FAMILY_OTHER, CONTROL_EXIT},
    {"membar.gl;", FAMILY_OTHER, CONTROL_NONE},
    {"bar.sync 0;", FAMILY_BARRIER, CONTROL_BARRIER},
    {"bar.arrive 1, 64;", FAMILY_BARRIER, CONTROL_ARRIVE},
    {"bar.red.and.pred %p1, 0, !%p2;", FAMILY_BARRIER, CONTROL_BARRIER},
    {"bar.warp.sync -1;", FAMILY_WARP, CONTROL_WARP_SYNC},
    {"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"vote.sync.ballot.b32 %r1, !%p1, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"elect.sync %r1|%p1, -1;", FAMILY_WARP, CONTROL_MEMBER_MASK},
    {"ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s];", FAMILY_MEMORY, CONTROL_NONE},
    {"st.global.u32 [%rd1+4], %r1;", FAMILY_MEMORY, CONTROL_NONE},
    {"atom.global.add.u32 %r1, [%rd1], %r2;", FAMILY_ATOMIC, CONTROL_NONE},
    {"red.shared.max.s32 [s], %r2;", FAMILY_ATOMIC, CONTROL_NONE},
    {"atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4};", FAMILY_VECTOR_ATOMIC, CONTROL_NONE},
    {"mbarrier.init.shared.b64 [s], 32;", FAMILY_MBARRIER, CONTROL_NONE},
    {"mbarrier.try_wait.parity.shared.b64 %p1, [s], 0;", FAMILY_MBARRIER, CONTROL_WAIT_MBARRIER},
    {"barrier.cluster.wait;", FAMILY_OTHER, CONTROL_WAIT_CLUSTER},
    {"cp.async.ca.shared.global [s], [%rd1], 4;", FAMILY_COPY, CONTROL_NONE},
    {"cp.async.mbarrier.arrive.noinc.shared.b64 [s];", FAMILY_COPY_ARRIVAL, CONTROL_NONE},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;", FAMILY_BULK, CONTROL_NONE},
    {"cp.async.wait_group 1;", FAMILY_GROUP, CONTROL_NONE},
};

Test(emu_insn, families)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct insn *i = &decode(emu, kinds[k].text)[TRIED];
        cr_expect(i->family == kinds[k].family && i->control == kinds[k].control,
                  "%s: family %d, control %d", kinds[k].text, i->family, i->control);
    }
    emu_close(emu);
}

/* ---- members --------------------------------------------------------------------------------- */

Test(emu_insn, members_of_a_load)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "ld.global.v2.s16 {%rs1, _}, [%rd1+-6];");
    const struct insn *i = &code[TRIED];
    cr_expect(i->address.base == code[RD1].d && i->address.bytes == 8);
    cr_expect(i->address.offset == -6 && i->address.space == PTX_GLOBAL);
    cr_expect(i->elements == 2 && i->element_bytes == 2 && i->is_signed);
    cr_expect(i->memory.value[0] != NO_SLOT && i->memory.value[1] == NO_SLOT);
    emu_close(emu);
}

Test(emu_insn, members_of_a_reduction_at_a_barrier)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "bar.red.or.pred %p2, %r1, !%p1;");
    const struct insn *i = &code[TRIED];
    cr_expect(i->barrier.number == code[R1].d && i->barrier.threads == NO_SLOT);
    cr_expect(i->barrier.predicate == code[P1].d && i->barrier.negated);
    cr_expect(i->barrier.result == BARRIER_OR);
    emu_close(emu);
}

/* ---- registers that are written -------------------------------------------------------------- */

static const struct {
    const char *text;
    unsigned which; /* R1, RD1 or P1 */
    bool writes;
} writes[] = {
    {"add.u32 %r1, %r2, %r3;", R1, true},
    {"add.u32 %r2, %r1, %r1;", R1, false},
    {"bfi.b32 %r2, %r3, %r3, %r3, %r1;", R1, false},
    {"mov.b64 %rd2, {%r1, %r2};", R1, false},
    {"mov.b64 {%r2, %r1}, %rd2;", R1, true},
    {"setp.lt.s32 %p2|%p1, %r2, %r3;", P1, true},
    {"setp.lt.and.s32 %p2, %r2, %r3, %p1;", P1, false},
    {"lop3.or.b32 %r2|%p1, %r2, %r3, %r4, 0x96, %p3;", P1, true},
    {"lop3.or.b32 %r2|%p2, %r2, %r3, %r4, 0x96, %p1;", P1, false},
    {"cvt.s32.s16 %rd1, %rs1;", RD1, true},
    {"cvt.s16.s32 %rs1, %rd1;", RD1, false},
    {"ld.global.v2.u32 {%r2, %r1}, [%rd1];", R1, true},
    {"ld.global.v2.u32 {%r2, %r1}, [%rd1];", RD1, false},
    {"st.global.v2.u32 [%rd1], {%r2, %r1};", R1, false},
    {"atom.global.v2.f16x2.add.noftz {%r2, %r1}, [%rd1], {%r3, %r4};", R1, true},
    {"atom.global.v2.f16x2.add.noftz {%r2, %r3}, [%rd1], {%r4, %r1};", R1, false},
    {"shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;", P1, true},
    {"shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;", R1, false},
};

Test(emu_insn, registers_that_are_written)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof writes / sizeof *writes; k++) {
        const struct insn *code = decode(emu, writes[k].text);
        cr_expect(insn_writes(&code[TRIED], code[writes[k].which].d) == writes[k].writes, "%s",
                  writes[k].text);
    }
    emu_close(emu);
}

/* A conversion to a wider register uses a narrow register in between, which is not its result. */
Test(emu_insn, result_of_a_wide_conversion)
{
    struct emu *emu = open_emu();
    const struct insn *code = decode(emu, "cvt.s32.s16 %rd1, %rs1;");
    cr_expect(insn_result(&code[TRIED]) == code[RD1].d && code[TRIED].d != code[RD1].d);
    emu_close(emu);
}

/* The interpreter goes through an array of them. */
Test(emu_insn, is_two_lines_of_a_cache)
{
    cr_expect(sizeof(struct insn) <= 128, "%zu bytes", sizeof(struct insn));
}

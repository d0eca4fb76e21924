/*
 * texts.c — texts that are no PTX, and PTX for other GPUs; instructions as they are
 * decoded. (Exact messages are in refusals.ptx.)
 */
#include "ptx_run.h"
#include "common/tools/emu/machine/machine.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the least .target of instructions ------------------------------------------------------- */

/*
 * The least .target of instructions (decode_forms.c), compared with ptxas: both accept
 * an instruction in a text for that GPU, and refuse it in one for the GPU before.
 */

TestSuite(emu_targets, .init = command_init, .fini = command_fini, .timeout = 60);

static const struct {
    unsigned before, least;
    const char *text;
} rows[] = {
    {72, 75, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%l0]"},
    {72, 75, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1}"},
    {75, 80,
     "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
     "{%r2}, {%f0, %f1, %f2, %f3}"},
    {70, 72, "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%l0]"},
    {89, 90, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%l0], {%r0}"},
    {75, 80, "cp.async.ca.shared.global [%l0], [%l1], 4"},
    {89, 90, "cp.async.bulk.commit_group"},
    {75, 80, "mbarrier.init.shared.b64 [%l0], 1"},
    {89, 90, "mbarrier.try_wait.shared.b64 %p, [%l0], %l1"},
    {89, 90, "barrier.cluster.arrive"},
    {89, 90, "mbarrier.arrive.shared.b64 _, [%l0], 3"},
    {89, 90, "griddepcontrol.wait"},
    {75, 80, "prefetch.global.L2::evict_last [%l0]"},
    {89, 90, "mov.u32 %r0, %aggr_smem_size"},
    {75, 80, "mov.u32 %r0, %reserved_smem_offset_begin"},
    {89, 90, "mov.u32 %r0, %cluster_ctarank"},
    {89, 90, "ld.shared::cluster.u32 %r0, [%l0]"},
    {75, 80, "redux.sync.add.s32 %r0, %r1, -1"},
    {62, 70, "ld.relaxed.gpu.global.u32 %r0, [%l0]"},
    {75, 80, "fma.rn.bf16 %h0, %h0, %h0, %h0"},
    {80, 90, "add.bf16 %h0, %h0, %h0"},
    {75, 80, "fma.rn.relu.f16 %h0, %h0, %h0, %h0"},
    {80, 86, "min.xorsign.abs.f32 %f0, %f1, %f2"},
    {80, 90, "cvt.rn.bf16.s32 %h0, %r0"},
    {80, 90, "cvt.rn.tf32.f32 %r0, %f0"},
    {80, 90, "setp.eq.bf16 %p, %h0, %h0"},
    {90, 100, "min.f32 %f0, %f1, %f2, %f3"},
    {90, 100, "st.global.v8.f32 [%l0], {%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3}"},
    {90, 100, "ld.global.v4.b64 {%l0, _, %l1, _}, [%l0]"},
};

static int make_text(char *text, size_t size, unsigned target, const char *instruction)
{
    return snprintf(text, size,
                    ".version 9.0\n.target sm_%u\n.address_size 64\n.visible .entry k() {\n"
                    ".reg .b16 %%h<2>; .reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .b64 %%l<2>; "
                    ".reg .pred %%p;\n%s;\nret;\n}\n",
                    target, instruction);
}

static int error_of(struct emu *emu, const char *text)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    int error = emu_load(emu, text, strlen(text), "k.ptx", &module);
    return error ? error : emu_kernel(emu, module, "k", &kernel);
}

Test(emu_targets, are_compared_with_those_of_instructions)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000], needs[100];
        snprintf(needs, sizeof needs,
                 "it needs .target sm_%u or higher, and the text has .target "
                 "sm_%u",
                 rows[i].least, rows[i].before);
        make_text(text, sizeof text, rows[i].least, rows[i].text);
        cr_expect(!error_of(emu, text), "%s: %s", rows[i].text, emu_message(emu));
        make_text(text, sizeof text, rows[i].before, rows[i].text);
        cr_expect_eq(error_of(emu, text), EMU_INVALID_PTX, "%s", rows[i].text);
        cr_expect(strstr(emu_message(emu), needs), "%s", emu_message(emu));
    }
    emu_close(emu);
}

static bool ptxas_takes(unsigned target, const char *instruction)
{
    char text[1000];
    make_text(text, sizeof text, target, instruction);
    return run("cat >$t/k.ptx <<'END'\n%s\nEND\n"
               "$(common/build/toolkit.sh)/bin/ptxas -arch=sm_%u -o /dev/null $t/k.ptx 2>&1",
               text, target > 90 ? target : 90) == 0;
}

Test(emu_targets, are_those_of_ptxas_slow)
{
    if (run("test -x $(common/build/toolkit.sh)/bin/ptxas") != 0) cr_skip("no ptxas is here");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect(ptxas_takes(rows[i].least, rows[i].text), "%s: %s", rows[i].text, output);
        cr_expect(!ptxas_takes(rows[i].before, rows[i].text), "%s", rows[i].text);
    }
}

/* ---- texts that are not valid PTX give a sentence with the line ------------------------------ */

/*
 * Texts that are not valid PTX give a sentence with the line, never a crash, a hang
 * or a leak.
 */

/* A kernel with most of what nvcc writes: comments, guards, vectors, scopes, tables, line marks. */
static const char whole[] =
    "//\n// Generated by a compiler\n//\n" PTX_HEADER "\n.extern .shared .align 16 .b8 dynamic[];\n"
    ".global .align 4 .b8 table[12] = {1, 2, 3, 4};\n"
    ".const .align 4 .f32 factor = 0f3F800000;\n"
    ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.u32 %r1, [x];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [result], %r2;\nret;\n}\n"
    "\n.visible .entry whole(\n.param .u64 whole_param_0,\n.param .u32 whole_param_1\n)\n"
    ".maxntid 256, 1, 1\n.minnctapersm 1\n{\n"
    ".reg .pred %p<3>;\n.reg .f32 %f<6>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<6>;\n"
    ".shared .align 4 .b8 fixed[128];\n.loc 1 5 3\n"
    "ld.param.u64 %rd1, [whole_param_0]; /* the\nbuffer */\n"
    "ld.param.u32 %r1, [whole_param_1];\nmov.u32 %r2, %tid.x;\n"
    "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra $L__BB0_2;\n"
    ".loc 1 7 9, function_name $L__info_string0, inlined_at 1 6 2\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r2, 16;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];\nfma.rn.f32 %f5, %f1, 0f40000000, %f2;\n"
    "st.global.f32 [%rd4+4], %f5;\n"
    "{ // a scope of its own\n.reg .b32 %r;\nmov.u32 %r, %r2;\nshfl.sync.up.b32 %r3|%p2, %r, 1, 0, "
    "-1;\n}\n"
    "st.global.u32 [%rd4], %r3;\n.pragma \"nounroll\";\n"
    "$L__BB0_2:\nbar.sync 0;\nret;\n\n}\n"
    "\t.file\t1 \"/tmp/whole.cu\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n";

/* Loads the text and asks for the kernel. Returns the error, which must have a message. */
static int try_load(struct emu *emu, const char *text, size_t length, const char *kernel_name)
{
    /* A copy of exactly this size: reading beyond it is a finding of the sanitizer. */
    char *copy = malloc(length ? length : 1);
    cr_assert(copy);
    memcpy(copy, text, length);
    struct emu_module *module = NULL;
    struct emu_kernel *kernel = NULL;
    int e = emu_load(emu, copy, length, "whole.ptx", &module);
    bool loaded = !e;
    if (loaded) e = emu_kernel(emu, module, kernel_name, &kernel);
    if (e) cr_expect(emu_message(emu)[0], "error %d without a message", e);
    if (loaded) emu_unload(emu, module);
    free(copy);
    return e;
}

Test(emu_malformed, the_whole_kernel_loads)
{
    struct emu *emu = open_emu();
    cr_expect(!try_load(emu, whole, strlen(whole), "whole"), "%s", emu_message(emu));
    emu_close(emu);
}

/* Cut off anywhere, the text must not load a kernel, except after its last brace. */
Test(emu_malformed, truncated_at_every_byte, .timeout = 30)
{
    struct emu *emu = open_emu();
    size_t end = (size_t)(strstr(whole, "ret;\n\n}\n") - whole) + strlen("ret;\n\n}");
    for (size_t length = 0; length < strlen(whole); length++) {
        int e = try_load(emu, whole, length, "whole");
        if (length < end)
            cr_expect(e == EMU_INVALID_PTX || e == EMU_INVALID_DEVICE_FUNCTION ||
                          e == EMU_UNSUPPORTED_PTX,
                      "cut after %zu bytes: error %d: %s", length, e, emu_message(emu));
    }
    emu_close(emu);
}

/* One byte, anywhere, is replaced by each of a few unusual ones. Any outcome but a crash or a hang
 * is right. */
Test(emu_malformed, damaged_at_every_byte, .timeout = 30)
{
    static const char nasty[] = {'\0', '{', '}', '"', '%', ';', '9', '-', '/', '\xff'};
    struct emu *emu = open_emu();
    char text[sizeof whole];
    size_t refused = 0;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        memcpy(text, whole, sizeof whole);
        text[i] = nasty[i % sizeof nasty];
        refused += try_load(emu, text, sizeof whole - 1, "whole") != 0;
    }
    cr_expect(refused > 400, "only %zu damaged texts were refused", refused);
    emu_close(emu);
}

Test(emu_malformed, random_bytes, .timeout = 30)
{
    struct emu *emu = open_emu();
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        char text[1000];
        size_t header = round % 2 ? strlen(PTX_HEADER) : 0; /* half of the texts begin correctly */
        memcpy(text, PTX_HEADER, header);
        for (size_t i = header; i < sizeof text; i++)
            text[i] = (char)(round % 3 ? next_random(&seed) % 96 + 32 : next_random(&seed));
        cr_expect(try_load(emu, text, sizeof text, "whole"), "random bytes are a kernel");
    }
    emu_close(emu);
}

/* A failure leaves nothing behind that disturbs the next text. */
Test(emu_malformed, a_device_survives_bad_texts)
{
    static const char *const mistakes[] = {
        "", "\177ELF\2\1\1", PTX_HEADER ".global .u32 v;\n.global .u32 v;\n",
        PTX_HEADER ".visible .entry k() {\nfrobnicate.u32 %r0;\nret;\n}\n",
        PTX_HEADER ".visible .entry k() {\n.reg .b64 %l<4000000000>;\nret;\n}\n",
        PTX_HEADER ".global .b8 w[64];\n.visible .entry k() {\nret;\n"};
    struct emu *emu = open_emu();
    size_t before, after, total;
    emu_memory_info(emu, &before, &total);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
            cr_expect(try_load(emu, mistakes[i], strlen(mistakes[i]), "k"), "%zu", i);
    emu_memory_info(emu, &after, &total);
    cr_expect(before == after, "%zu bytes of device memory are lost", before - after);
    uint32_t in = 0, out = 0;
    run_kernel(emu, PTX_KERNEL("k", "st.global.u32 [%out], 9;\nret;\n"), 1, 1, &out, &in);
    cr_expect(out == 9);
    emu_close(emu);
}

/* ---- the fields of a decoded instruction: its operation, and the registers that it writes ---- */

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

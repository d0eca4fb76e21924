/*
 * targets.c — the least .target of instructions (decode_forms.c), compared with ptxas: both accept
 * an instruction in a text for that GPU, and refuse it in one for the GPU before.
 */
#include "ptx_run.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

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

/* ptxas, too, refuses a version that is older than the target. */
Test(emu_targets, have_a_first_version)
{
    struct emu *emu = open_emu();
    static const char *const wrong[] = {".version 7.7\n.target sm_90\n",
                                        ".version 6.2\n.target sm_75",
                                        ".version 7.0\n.target sm_86\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(error_of(emu, wrong[i]), EMU_INVALID_PTX, "%s", wrong[i]);
    cr_expect(strstr(emu_message(emu), "line 3: target sm_86 needs .version 7.1 or higher"), "%s",
              emu_message(emu));
    cr_expect(!error_of(emu, ".version 7.1\n.target sm_86\n.visible .entry k() { ret; }"), "%s",
              emu_message(emu));
    emu_close(emu);
}

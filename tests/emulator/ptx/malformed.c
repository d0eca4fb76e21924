/*
 * malformed.c — texts that are no PTX, and PTX for other GPUs.
 */
#include "ptx_run.h"
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

/* ---- particular mistakes --------------------------------------------------------------------- */

/* The body starts in line 6: three of PTX_HEADER, the entry, the registers. */
#define IN_BODY(text)                                                                              \
    PTX_HEADER ".visible .entry k(.param .u64 p) {\n"                                              \
               ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 "   \
               "%l<4>;\n" text "\nret;\n}\n"

static const struct mistake {
    const char *name, *text;
    unsigned line;    /* that the message must name; 0: any */
    const char *says; /* a word that the message must contain; NULL: any */
} mistakes[] = {
    {"empty", "", 0, NULL},
    {"blanks", "  \n\n\t\n", 0, NULL},
    {"another language", "#include <stdio.h>\nint main(void) { return 0; }\n", 1, NULL},
    {"an object file", "\177ELF\2\1\1", 0, NULL},
    {"no .version", ".target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n", 1,
     "version"},
    {"a version without a point", ".version 9\n.target sm_90\n.address_size 64\n", 1,
     "followed by no version"},
    {"32-bit addresses",
     ".version 9.0\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }\n", 3,
     "address_size"},
    {"unknown directive", PTX_HEADER ".frobnicate 3;\n.visible .entry k() { ret; }\n", 4,
     "frobnicate"},
    {"unknown directive in the body", IN_BODY(".frobnicate 3;"), 6, "frobnicate"},
    {"unknown instruction", IN_BODY("frobnicate.u32 %r0, %r1;"), 6, "frobnicate"},
    {"unknown modifier", IN_BODY("add.frob.s32 %r0, %r1, %r2;"), 6, "frob"},
    {"unknown type", IN_BODY("add.q32 %r0, %r1, %r2;"), 6, "q32"},
    {"a type too few", IN_BODY("add %r0, %r1, %r2;"), 6, "add"},
    {"a type too many", IN_BODY("add.s32.s32 %r0, %r1, %r2;"), 6, "add"},
    {"an operand too few", IN_BODY("add.s32 %r0, %r1;"), 6, "add"},
    {"an operand too many", IN_BODY("add.s32 %r0, %r1, %r2, %r3;"), 6, "add"},
    {"no operands", IN_BODY("add.s32;"), 6, "add"},
    {"store without a value", IN_BODY("st.global.u32 [%l0];"), 6, "st"},
    {"address without brackets", IN_BODY("ld.global.u32 %r0, %l0;"), 6, NULL},
    {"store to a register", IN_BODY("st.global.u32 %r0, %r1;"), 6, NULL},
    {"constant as destination", IN_BODY("add.s32 5, %r1, %r2;"), 6, NULL},
    {"undeclared register", IN_BODY("mov.u32 %r0, %r9;"), 6, "%r9"},
    {"register of no name", IN_BODY("mov.u32 %r0, %zz;"), 6, "%zz"},
    {"undeclared variable", IN_BODY("mov.u64 %l0, nowhere;"), 6, "nowhere"},
    {"undeclared parameter", IN_BODY("ld.param.u64 %l0, [q];"), 6, "q"},
    {"predicate as a number", IN_BODY("add.s32 %r0, %p0, 1;"), 6, NULL},
    {"number as a guard", IN_BODY("@%r0 mov.u32 %r1, 1;"), 6, NULL},
    {"register too narrow", IN_BODY("add.s64 %l0, %l1, %r1;"), 6, NULL},
    {"missing label", IN_BODY("bra NOWHERE;"), 6, "NOWHERE"},
    {"label twice", IN_BODY("HERE:\nmov.u32 %r0, 1;\nHERE:"), 8, "HERE"},
    {"register twice", IN_BODY(".reg .b32 %r<2>;"), 6, "%r"},
    {"variable twice",
     PTX_HEADER ".global .u32 v;\n.global .u32 v;\n.visible .entry k() { ret; }\n", 5, "v"},
    {"kernel twice", PTX_HEADER ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n", 5,
     "k"},
    {"no semicolon", IN_BODY("mov.u32 %r0, 1\nmov.u32 %r1, 2;"), 7, NULL},
    {"closing bracket missing", IN_BODY("ld.global.u32 %r0, [%l0;"), 6, NULL},
    {"closing brace missing", PTX_HEADER ".visible .entry k() {\nret;\n", 0, NULL},
    {"a brace too many", PTX_HEADER ".visible .entry k() {\nret;\n}\n}\n", 7, NULL},
    {"vector not closed", IN_BODY("ld.global.v2.u32 {%r0, %r1, [%l0];"), 6, NULL},
    {"vector of three", IN_BODY("ld.global.v2.u32 {%r0, %r1, %r2}, [%l0];"), 6, NULL},
    {"vector of one", IN_BODY("ld.global.v4.u32 {%r0}, [%l0];"), 6, NULL},
    {"unterminated comment", IN_BODY("/* mov.u32 %r0, 1;"), 0, "comment"},
    {"unterminated string", PTX_HEADER ".visible .entry k() { ret; }\n.file 1 \"never closed\n", 5,
     NULL},
    {"number too large", IN_BODY("mov.u64 %l0, 99999999999999999999999999;"), 6, NULL},
    {"number without digits", IN_BODY("mov.u32 %r0, 0x;"), 6, NULL},
    {"float constant too short", IN_BODY("mov.f32 %f0, 0f3F;"), 6, NULL},
    {"huge register count",
     PTX_HEADER ".visible .entry k() {\n.reg .b64 %l<4000000000>;\nret;\n}\n", 5, NULL},
    {"many huge registers",
     PTX_HEADER ".visible .entry k() {\n.reg .b64 %a<2000000000>;\n.reg .b64 %b<2000000000>;\n"
                ".reg .b64 %c<2000000000>;\nret;\n}\n",
     0, NULL},
    {"negative size", PTX_HEADER ".global .b8 v[-1];\n.visible .entry k() { ret; }\n", 4, NULL},
    {"absurd size",
     PTX_HEADER ".global .b8 v[18446744073709551615];\n.visible .entry k() { ret; }\n", 4, NULL},
    {"absurd size in two dimensions",
     PTX_HEADER ".global .b64 v[4294967296][4294967296];\n.visible .entry k() { ret; }\n", 4, NULL},
    {"absurd local memory",
     PTX_HEADER ".visible .entry k() {\n.local .b8 v[9000000000000000000];\nret;\n}\n", 5, NULL},
    {"alignment of three", PTX_HEADER ".global .align 3 .b8 v[4];\n.visible .entry k() { ret; }\n",
     4, "align"},
    {"alignment of zero", PTX_HEADER ".global .align 0 .b8 v[4];\n.visible .entry k() { ret; }\n",
     4, "align"},
    {"more values than elements",
     PTX_HEADER ".global .u32 v[2] = {1, 2, 3};\n.visible .entry k() { ret; }\n", 4, NULL},
    {"expression that divides by zero", IN_BODY("mov.u32 %r0, 1/0;"), 6, NULL},
    {"expression that is not closed", IN_BODY("mov.u32 %r0, (1+2;"), 6, NULL},
    {"comparison missing", IN_BODY("setp.s32 %p0, %r0, %r1;"), 6, NULL},
    {"rounding missing", IN_BODY("cvt.f32.s32 %f0, %r0;"), 6, NULL},
    {"table of branches missing", IN_BODY("brx.idx %r0, TABLE;"), 6, "TABLE"},
};

Test(emu_malformed, mistakes)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        int e = try_load(emu, m->text, strlen(m->text), "k");
        const char *message = e ? emu_message(emu) : "(it was accepted)";
        /* An unknown word may also belong to a PTX version that is newer than the emulator. */
        cr_expect(e == EMU_INVALID_PTX || e == EMU_UNSUPPORTED_PTX ||
                      (e == EMU_INVALID_DEVICE_FUNCTION && !m->line),
                  "%s: error %d: %s", m->name, e, message);
        char line[32];
        snprintf(line, sizeof line, "line %u", m->line);
        const char *at = strstr(message, line);
        cr_expect(!m->line || (at && (at[strlen(line)] < '0' || at[strlen(line)] > '9')),
                  "%s: the message does not say \"%s\": %s", m->name, line, message);
        cr_expect(!m->says || strstr(message, m->says), "%s: the message does not say \"%s\": %s",
                  m->name, m->says, message);
    }
    emu_close(emu);
}

/* The same again on one device: a failure leaves nothing behind that disturbs the next text. */
Test(emu_malformed, a_device_survives_bad_texts)
{
    struct emu *emu = open_emu();
    size_t before, after, total;
    emu_memory_info(emu, &before, &total);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
            try_load(emu, mistakes[i].text, strlen(mistakes[i].text), "k");
    emu_memory_info(emu, &after, &total);
    cr_expect(before == after, "%zu bytes of device memory are lost", before - after);
    uint32_t in = 0, out = 0;
    run_kernel(emu, PTX_KERNEL("k", "st.global.u32 [%out], 9;\nret;\n"), 1, 1, &out, &in);
    cr_expect(out == 9);
    emu_close(emu);
}

/* PTX 9.0 will be followed by 10.0 some day. */
Test(emu_malformed, a_version_of_two_digits_is_no_mistake)
{
    static const char text[] =
        ".version 10.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    struct emu *emu = open_emu();
    cr_expect(!try_load(emu, text, strlen(text), "k"), "%s", emu_message(emu));
    emu_close(emu);
}

/* Long, but legal. */
Test(emu_malformed, long_texts_are_no_mistake, .timeout = 20)
{
    enum { LINES = 20000 };
    struct emu *emu = open_emu();
    char *body = malloc(LINES * 40), *end = body;
    cr_assert(body);
    end += sprintf(end, "mov.u32 %%r0, 0;\n");
    for (int i = 0; i < LINES; i++) end += sprintf(end, "L%d: add.u32 %%r0, %%r0, 1;\n", i);
    char *text = ptx_kernel("%s st.global.u32 [%%out], %%r0;\nret;\n", body);
    uint32_t in = 0, out = 0;
    run_kernel(emu, text, 1, 1, &out, &in);
    cr_expect(out == LINES, "got %u", out);
    free(text);
    free(body);
    emu_close(emu);
}

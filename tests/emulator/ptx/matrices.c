/*
 * matrices.c — tensor cores as PTX has them: products against sums of integers, moves of matrices,
 * and what the checkers and counters see of them. (tests/docs/test_fidelity.py compares the bits of
 * floating-point results with an H200's.)
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, WORDS = 8 * LANES };

/* Runs a kernel "k" of one warp; returns the error of the launch. */
static int run(struct emu *emu, const char *text, unsigned threads, uint32_t *out,
               const uint32_t *in)
{
    emu_addr to = device_copy(emu, NULL, WORDS * 4), from = device_copy(emu, in, WORDS * 4);
    int e = launch(emu, load_kernel(emu, text, "k"), 1, threads, 0, 2, (uint64_t[]){to, from});
    if (!e) cr_assert(!emu_read(emu, out, to, WORDS * 4));
    return e;
}

/* ---- products -------------------------------------------------------------------------------- */

/* a: 16 x 32 signed bytes, b: 32 x 8 unsigned ones; the place of each as the PTX ISA has it. */
static int a_of(int row, int k) { return (row * 7 + k * 3) % 256 - 128; }
static int b_of(int k, int column) { return (k * 5 + column * 11) % 256; }
static int c_of(int row, int column) { return row * 1000 - column; }

static void fill_bytes(uint32_t *in)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int part = 0; part < 4; part++) {
            int row = lane / 4, k = lane % 4 * 4 + part;
            for (int r = 0; r < 4; r++)
                in[r * LANES + lane] |= (uint32_t)(a_of(row + r % 2 * 8, k + r / 2 * 16) & 0xff)
                                        << 8 * part;
            for (int r = 0; r < 2; r++)
                in[(4 + r) * LANES + lane] |= (uint32_t)b_of(k + r * 16, row) << 8 * part;
        }
}

static const char bytes_product[] = PTX_KERNEL(
    "k", "ld.global.u32 %r0, [%in];\nld.global.u32 %r1, [%in+128];\nld.global.u32 %r2, [%in+256];\n"
         "ld.global.u32 %r3, [%in+384];\nld.global.u32 %r4, [%in+512];\n"
         "ld.global.u32 %r5, [%in+640];\nshr.u32 %r6, %id, 2;\nand.b32 %r7, %id, 3;\n"
         "mul.lo.s32 %r6, %r6, 1000;\nshl.b32 %r7, %r7, 1;\nsub.s32 %r10, %r6, %r7;\n"
         "sub.s32 %r11, %r10, 1;\nadd.s32 %r12, %r10, 8000;\nadd.s32 %r13, %r11, 8000;\n"
         "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r14, %r15, %r16, %r17}, "
         "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r10, %r11, %r12, %r13};\n"
         "st.global.u32 [%out], %r14;\nst.global.u32 [%out+128], %r15;\n"
         "st.global.u32 [%out+256], %r16;\nst.global.u32 [%out+384], %r17;\nret;");

Test(matrices, a_product_of_bytes)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu();
    fill_bytes(in);
    cr_assert(!run(emu, bytes_product, LANES, out, in), "%s", emu_message(emu));
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < 4; r++) {
            int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2, sum = c_of(row, column);
            for (int k = 0; k < 32; k++) sum += a_of(row, k) * b_of(k, column);
            cr_expect_eq((int)out[r * LANES + lane], sum, "row %d, column %d", row, column);
        }
    emu_close(emu);
}

/* d = c + 1 for a and b of which one element is 1, where c is the largest number. */
static uint32_t largest_and_one(const char *saturates)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu();
    char *text = ptx_kernel("mov.u32 %%r0, 1;\nmov.u32 %%r1, 0x7fffffff;\n"
                            "mma.sync.aligned.m8n8k16.row.col%s.s32.u8.u8.s32 {%%r2, %%r3}, "
                            "{%%r0}, {%%r0}, {%%r1, %%r1};\nst.global.u32 [%%out], %%r3;\nret;",
                            saturates);
    cr_assert(!run(emu, text, LANES, out, in), "%s", emu_message(emu));
    free(text);
    emu_close(emu);
    return out[17];
}

Test(matrices, sums_of_integers_wrap_or_saturate)
{
    cr_expect_eq(largest_and_one(".satfinite"), 0x7fffffff);
    cr_expect_eq(largest_and_one(""), 0x80000003, "four of the 16 products are 1");
}

/* The result may be the same registers as an operand. */
Test(matrices, a_product_in_place)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu();
    static const char text[] = PTX_KERNEL(
        "k", "mov.u32 %r0, 0x3c003c00;\nmov.u32 %r1, %r0;\n"
             "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1}, {%r0}, "
             "{%r0, %r1};\nst.global.u32 [%out], %r0;\nst.global.u32 [%out+128], %r1;\nret;");
    cr_assert(!run(emu, text, LANES, out, in), "%s", emu_message(emu));
    for (int k = 0; k < 2 * LANES; k++) cr_expect_eq(out[k], 0x48804880, "1 + 8 in word %d", k);
    emu_close(emu);
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* s: a matrix of 8 rows of 16 bytes, which thread t fills with the numbers 2t and 2t + 1; %r9 is
 * the row of this thread. */
#define SHARED_MATRIX                                                                              \
    ".shared .align 16 .b8 s[1024];\nmov.u32 %r8, s;\nshl.b32 %r1, %id, 2;\n"                      \
    "add.u32 %r1, %r8, %r1;\nshl.b32 %r2, %id, 1;\nadd.u32 %r3, %r2, 1;\nshl.b32 %r3, %r3, 16;\n"  \
    "or.b32 %r2, %r2, %r3;\nst.shared.u32 [%r1], %r2;\nand.b32 %r9, %id, 7;\n"                     \
    "shl.b32 %r9, %r9, 4;\nadd.u32 %r9, %r8, %r9;\n"
#define STORE_RESULT "st.global.u32 [%out], %r10;\nret;"

/* The two elements of a lane: of the matrix, or of the transposed one. */
static uint32_t own(int lane) { return (uint32_t)((2 * lane) | (2 * lane + 1) << 16); }
static uint32_t transposed(int lane)
{
    int row = lane / 4, column = lane % 4 * 2;
    return (uint32_t)((column * 8 + row) | (column * 8 + 8 + row) << 16);
}

static void expect_lanes(const char *body, uint32_t (*want)(int lane))
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu();
    cr_assert(!run(emu, body, LANES, out, in), "%s", emu_message(emu));
    for (int l = 0; l < LANES; l++)
        cr_expect_eq(out[l], want(l), "lane %d: %x, not %x", l, out[l], want(l));
    emu_close(emu);
}

Test(matrices, loads_and_stores_of_rows)
{
    expect_lanes(
        PTX_KERNEL("k", SHARED_MATRIX
                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];\n" STORE_RESULT),
        own);
    expect_lanes(PTX_KERNEL("k", SHARED_MATRIX "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 "
                                               "{%r10}, [%r9];\n" STORE_RESULT),
                 transposed);
    expect_lanes(PTX_KERNEL("k", SHARED_MATRIX
                            "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r2;\n" STORE_RESULT),
                 transposed);
    expect_lanes(PTX_KERNEL("k", SHARED_MATRIX
                            "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r9+512], {%r2};\n"
                            "ld.shared.u32 %r10, [%r1+512];\n" STORE_RESULT),
                 transposed);
}

/* A generic address, whose high bits say that it is shared. */
Test(matrices, rows_at_a_generic_address)
{
    expect_lanes(PTX_KERNEL("k", SHARED_MATRIX
                            "cvt.u64.u32 %l1, %r9;\ncvta.shared.u64 %l1, %l1;\n"
                            "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%l1];\n" STORE_RESULT),
                 own);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void expect_fault(const char *body, unsigned threads, int error, const char *says)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu();
    cr_expect_eq(run(emu, body, threads, out, in), error, "%s", emu_message(emu));
    cr_expect(strstr(emu_message(emu), says), "%s", emu_message(emu));
    emu_close(emu);
}

Test(matrices, faults)
{
    static const char load[] =
        PTX_KERNEL("k", SHARED_MATRIX
                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9+8];\n" STORE_RESULT);
    static const char far[] = PTX_KERNEL(
        "k", SHARED_MATRIX "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9+1008], {%r2};\nret;");
    static const char guarded[] = PTX_KERNEL(
        "k", SHARED_MATRIX "setp.ne.u32 %p1, %id, 3;\n"
                           "@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r2;\n" STORE_RESULT);
    static const char wmma[] = PTX_KERNEL(
        "k", "mov.u32 %r5, 16;\nld.param.u64 %l1, [p_in];\n"
             "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%l1+1024], %r5;\n"
             "ret;");
    static const char global[] =
        PTX_KERNEL("k", "ld.param.u64 %l1, [p_in];\n"
                        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%l1];\n" STORE_RESULT);
    expect_fault(global, LANES, EMU_ILLEGAL_INSTRUCTION,
                 "is not in shared memory, as that of a row in ldmatrix must be");
    expect_fault(load, LANES, EMU_MISALIGNED_ADDRESS, "is not a multiple of the 16 bytes");
    expect_fault(far, LANES, EMU_ILLEGAL_ADDRESS, "a store of 16 bytes at shared address 0x400");
    expect_fault(guarded, LANES, EMU_LAUNCH_FAILURE,
                 "only lanes 0xfffffff7 of the warp execute movmatrix, which needs all 32");
    expect_fault(load, 16, EMU_LAUNCH_FAILURE, "only lanes 0x0000ffff of the warp");
    expect_fault(wmma, LANES, EMU_ILLEGAL_ADDRESS, "out of bounds");
}

/* A lane that has parted comes to the instruction before the others go on. */
Test(matrices, lanes_that_parted_come_together)
{
    expect_lanes(
        PTX_KERNEL("k", SHARED_MATRIX
                   "setp.eq.u32 %p1, %id, 5;\nmov.u32 %r4, 100;\n@!%p1 bra JOIN;\n"
                   "AGAIN: sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0;\n"
                   "@%p2 bra AGAIN;\nJOIN:\n"
                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];\n" STORE_RESULT),
        own);
}

/* GPUs that do not have an instruction. */
Test(matrices, older_gpus)
{
    static const struct {
        const char *gpu, *instruction, *says;
    } cases[] = {
        {"t4", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];", NULL},
        {"t4",
         "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1}, {%r0}, {%r0, "
         "%r1};",
         NULL},
        {"t4",
         "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, "
         "%r1}, %r0, {%f0, %f1, %f2, %f3};",
         "GPUs have it from compute capability 8.0 on, and the emulated one has 7.5; choose a "
         "newer "
         "GPU by emu --gpu"},
        {"t4",
         "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0, %r1}, %r0, %r0, "
         "{%r0, %r1};",
         "from compute capability 8.0 on"},
        {"a100", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], %r0;",
         "GPUs have it from compute capability 9.0 on, and the emulated one has 8.0"},
        {"a100",
         "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0, %f1, %f2, %f3}, {%r0, "
         "%r1, %r2, %r3}, {%r0, %r1}, {%f0, %f1, %f2, %f3};",
         "from compute capability 8.9 on"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct emu *emu = open_emu_with(
            &(struct emu_config){.memory = 1 << 20, .gpu = emu_gpu_find(cases[k].gpu)});
        char *text = ptx_kernel("bra END;\n%s\nEND: ret;", cases[k].instruction);
        struct emu_module *module;
        struct emu_kernel *kernel;
        int e = emu_load(emu, text, strlen(text), "k.ptx", &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        cr_expect_eq(e, cases[k].says ? EMU_UNSUPPORTED_PTX : 0, "%s", emu_message(emu));
        if (cases[k].says)
            cr_expect(strstr(emu_message(emu), cases[k].says), "%s", emu_message(emu));
        free(text);
        emu_close(emu);
    }
}

/* ---- the checkers and the counters ----------------------------------------------------------- */

/* The first finding of a kernel of two warps; "": nothing was found. */
static const char *finding_of(unsigned checks, const char *body, char *text, size_t size)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = checks});
    cr_assert(!run(emu, body, 2 * LANES, out, in), "%s", emu_message(emu));
    *text = '\0';
    if (emu_findings(emu))
        snprintf(text, size, "%s\n%s", emu_finding(emu, 0)->head, emu_finding(emu, 0)->detail);
    emu_close(emu);
    return text;
}

#define TWO_WARPS(between)                                                                         \
    PTX_KERNEL("k", ".shared .align 16 .b8 s[512];\nmov.u32 %r8, s;\nshl.b32 %r9, %id, 4;\n"       \
                    "and.b32 %r9, %r9, 127;\nadd.u32 %r9, %r8, %r9;\nsetp.lt.u32 %p1, %id, 32;\n"  \
                    "@!%p1 bra SECOND;\n"                                                          \
                    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%id};\nSECOND:\n" between    \
                    "@%p1 bra END;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];\n"     \
                    "st.global.u32 [%out], %r10;\nEND: ret;")

Test(matrices, races_between_warps)
{
    char text[2000];
    finding_of(EMU_CHECK_RACE, TWO_WARPS(""), text, sizeof text);
    cr_expect(strstr(text, "hazard at __shared__"), "%s", text);
    finding_of(EMU_CHECK_RACE, TWO_WARPS("bar.sync 0;\n"), text, sizeof text);
    cr_expect_str_eq(text, "");
}

/* Lanes 0 to 7 store a row each, and give the address of this row. The elements go to other lanes,
 * or come from them. */
#define OWN_ROWS(first, between, then)                                                             \
    PTX_KERNEL("k", ".shared .align 16 .b8 s[128];\nmov.u32 %r8, s;\nand.b32 %r9, %id, 7;\n"       \
                    "shl.b32 %r9, %r9, 4;\nadd.u32 %r9, %r8, %r9;\nsetp.gt.u32 %p1, %id, 31;\n"    \
                    "setp.lt.u32 %p2, %id, 8;\n@%p1 bra END;\n" first between then "END: ret;")
#define STORE_ROW     "@%p2 st.shared.v4.u32 [%r9], {%id, %id, %id, %id};\n"
#define LOAD_ROW      "@%p2 ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r9];\n"
#define LDMATRIX(how) "ldmatrix.sync.aligned.m8n8.x1" how ".shared.b16 {%r10}, [%r9];\n"
#define STMATRIX(how) "stmatrix.sync.aligned.m8n8.x1" how ".shared.b16 [%r9], {%id};\n"
#define SYNC          "bar.warp.sync 0xffffffff;\n"

Test(matrices, lanes_access_what_their_registers_hold)
{
    static const struct {
        const char *body, *hazard;
    } cases[] = {
        {OWN_ROWS(STORE_ROW, "", LDMATRIX("")), "RAW hazard"},
        {OWN_ROWS(STORE_ROW, "", LDMATRIX(".trans")), "RAW hazard"},
        {OWN_ROWS(STMATRIX(""), "", LOAD_ROW), "RAW hazard"},
        {OWN_ROWS(STMATRIX(".trans"), "", LOAD_ROW), "RAW hazard"},
        {OWN_ROWS(LDMATRIX(""), "", STORE_ROW), "WAR hazard"},
        {OWN_ROWS(STORE_ROW, SYNC, LDMATRIX("")), NULL},
        {OWN_ROWS(STORE_ROW, SYNC, LDMATRIX(".trans")), NULL},
        {OWN_ROWS(STMATRIX(".trans"), SYNC, LOAD_ROW), NULL},
        {OWN_ROWS(STMATRIX(""), "", LDMATRIX("")), NULL}, /* each lane has its own elements */
        {OWN_ROWS(STMATRIX(".trans"), "", LDMATRIX(".trans")), NULL},
        {OWN_ROWS(STMATRIX(""), "", LDMATRIX(".trans")), "RAW hazard"},
        {OWN_ROWS("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%id, %r9};\n", "", ""),
         "Lanes write it in one instruction"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        finding_of(EMU_CHECK_RACE, cases[k].body, text, sizeof text);
        cr_expect(cases[k].hazard ? strstr(text, cases[k].hazard) != NULL : !*text, "case %zu: %s",
                  k, text);
    }
}

/* Two warps store a tile to one place, with a value of each lane. */
#define TWO_TILES(value)                                                                           \
    PTX_KERNEL("k", "ld.param.u64 %l1, [p_out];\nmov.u32 %r0, 16;\nand.b32 %r1, %id, 31;\n"        \
                    "cvt.rn.f32.u32 %f0, " value ";\nwmma.store.d.sync.aligned.row.m16n16k16.f32 " \
                    "[%l1], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0}, %r0;\nret;")

Test(matrices, equal_values_of_two_warps_are_no_race)
{
    char text[2000];
    finding_of(EMU_CHECK_RACE, TWO_TILES("%id"), text, sizeof text);
    cr_expect(strstr(text, "WAW hazard at __global__"), "%s", text);
    finding_of(EMU_CHECK_RACE, TWO_TILES("%r1"), text, sizeof text);
    cr_expect_str_eq(text, "");
}

/* Where a matrix begins, in bytes, and how far its rows are apart, in elements. */
#define WMMA_LOAD(what, registers, at, stride)                                                     \
    PTX_KERNEL("k", "ld.param.u64 %l1, [p_in];\nmov.u32 %r9, " stride ";\n"                        \
                    "wmma.load." what " {" registers "}, [%l1+" at "], %r9;\nret;")
#define HALVES "%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7"

Test(matrices, misaligned_matrices_are_told)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        {WMMA_LOAD("a.sync.aligned.row.m16n16k16.f16", HALVES, "32", "24"), NULL},
        {WMMA_LOAD("a.sync.aligned.row.m16n16k16.f16", HALVES, "16", "24"),
         "does not begin at a multiple of 32 bytes"},
        {WMMA_LOAD("a.sync.aligned.col.m16n16k16.f16", HALVES, "0", "20"),
         "are 40 bytes apart, which is no multiple of 16"},
        {WMMA_LOAD("a.sync.aligned.col.m8n32k16.f16", HALVES, "16", "24"), NULL},
        {WMMA_LOAD("a.sync.aligned.row.m16n16k16.u8", "%r0, %r1", "8", "24"), NULL},
        {WMMA_LOAD("a.sync.aligned.row.m16n16k16.u8", "%r0, %r1", "8", "20"),
         "are 20 bytes apart, which is no multiple of 8"},
        {WMMA_LOAD("c.sync.aligned.row.m16n16k16.f16", "%r0, %r1, %r2, %r3", "8", "16"),
         "does not begin at a multiple of 16 bytes"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        finding_of(EMU_CHECK_MEMORY, cases[k].body, text, sizeof text);
        cr_expect(cases[k].says ? strstr(text, cases[k].says) != NULL : !*text, "case %zu: %s", k,
                  text);
    }
}

Test(matrices, reads_of_what_was_not_written)
{
    char text[2000];
    static const char body[] =
        PTX_KERNEL("k", ".shared .align 16 .b8 s[512];\nmov.u32 %r8, s;\nshl.b32 %r9, %id, 4;\n"
                        "and.b32 %r9, %r9, 127;\nadd.u32 %r9, %r8, %r9;\n"
                        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];\nret;");
    finding_of(EMU_CHECK_INIT, body, text, sizeof text);
    cr_expect(strstr(text, "Uninitialized __shared__ memory read of size 16 bytes"), "%s", text);
    finding_of(EMU_CHECK_INIT, TWO_WARPS("bar.sync 0;\n"), text, sizeof text);
    cr_expect_str_eq(text, "");
}

/* Four matrices whose rows lie `bytes` apart: wavefronts and conflicts, of loads and stores. */
static void expect_counts(unsigned bytes, unsigned wavefronts)
{
    uint32_t in[WORDS] = {0}, out[WORDS];
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 8 << 20, .counters = true});
    char *text = ptx_kernel(".shared .align 16 .b8 s[8192];\nmov.u32 %%r8, s;\n"
                            "mad.lo.u32 %%r9, %%id, %u, %%r8;\n"
                            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%%r9], {%%id, %%id, %%id, "
                            "%%id};\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r10, %%r11, "
                            "%%r12, %%r13}, [%%r9];\nret;",
                            bytes);
    cr_assert(!run(emu, text, LANES, out, in), "%s", emu_message(emu));
    const struct emu_counts *c = &emu_record(emu, 0)->total;
    const struct emu_shared *const all[] = {&c->ldmatrix, &c->stmatrix, &c->shared_ld,
                                            &c->shared_st};
    for (size_t k = 0; k < 4; k++) {
        cr_expect_eq(all[k]->instructions, 1);
        cr_expect_eq(all[k]->wavefronts, wavefronts, "%u bytes", bytes);
        cr_expect_eq(all[k]->ideal, 4);
    }
    free(text);
    emu_close(emu);
}

Test(matrices, eight_rows_are_a_wavefront)
{
    expect_counts(16, 4);
    expect_counts(144, 4);
    expect_counts(32, 8);
    expect_counts(128, 32);
}

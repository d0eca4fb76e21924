/*
 * test_exact.c — reading machine code, and comparing it with PTX.
 *
 * The kernels are those of merged.cu, compiled for sm_90. Tests of ptxas's machine code are skipped
 * unless the toolkit is 13.0, for which they were written.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "common/tools/emu/ptx/binary.h"
#include "common/tools/emu/watch/count.h"
#include "common/tools/emu/command/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- instructions ---------------------------------------------------------------------------- */

/* clang-format off */
#define NOTHING     {ACCESS_NONE, 0, 0}
#define LOAD(s, n)  {ACCESS_LOAD, PTX_##s, n}
#define STORE(s, n) {ACCESS_STORE, PTX_##s, n}
#define ATOM(s, n)  {ACCESS_ATOMIC, PTX_##s, n}
#define COPY(n)     {ACCESS_COPY, PTX_GLOBAL, n}
/* clang-format on */

/* Machine instructions, as nvdisasm 13 shows them. */
static const struct {
    unsigned arch;
    const char *text;
    uint64_t low, high;
    struct sass_access kind;
} instructions[] = {
    {75, "LDG.E.64.STRONG.SYS R8, [R6]", 0x0000000006087381, 0x0002a200001f6b00, LOAD(GLOBAL, 8)},
    {75, "LD.E.64.SYS R14, [R2]", 0x00000000020e7980, 0x001ea4000010eb00, LOAD(GENERIC, 8)},
    {75, "STS [R29.X4], R14", 0x0000000e1d007388, 0x004fea0000004800, STORE(SHARED, 4)},
    {75, "STS.U16 [R13], R12", 0x0000000c0d007388, 0x004fe80000000400, STORE(SHARED, 2)},
    {75, "STG.E.128.SYS [R10], R20", 0x000000140a007386, 0x000fe8000010ed00, STORE(GLOBAL, 16)},
    {75, "ST.E.U8.STRONG.SYS [R8+0x1], R16", 0x0000000108007385, 0x0001e80000116110,
     STORE(GENERIC, 1)},
    {75, "ATOMS.ADD R0, [R11.X4], R2", 0x000000020b00738c, 0x000e2200000040ff, ATOM(SHARED, 4)},
    {75, "ATOMS.CAS.64 R6, [R11.X8], R12, R14", 0x0000000c0b06738d, 0x000fe8000000840e,
     ATOM(SHARED, 8)},
    {75, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R3, [R4], R21", 0x00000015040373a8,
     0x000ee200001f47ff, ATOM(GLOBAL, 4)},
    {75, "RED.E.ADD.F64.RN.STRONG.GPU [R14], R28", 0x0000001c0e00798e, 0x0001e80000114d00,
     ATOM(GLOBAL, 8)},
    {90, "LDS R6, [R8]", 0x0000000008067984, 0x001e240000000800, LOAD(SHARED, 4)},
    {90, "LDS.U8 R0, [R4+UR4]", 0x0000000404007984, 0x000e240008000000, LOAD(SHARED, 1)},
    {90, "LDS.128 R4, [R2+0x70]", 0x0000700002047984, 0x000fe80000000c00, LOAD(SHARED, 16)},
    {90, "@!PT LDS RZ, [RZ]", 0x00000000fffff984, 0x000fe20000000800, NOTHING},
    {90, "STS.64 [R19], R14", 0x0000000e13007388, 0x0081e20000000a00, STORE(SHARED, 8)},
    {90, "LDG.E.CONSTANT R4, desc[UR4][R4.64]", 0x0000000404047981, 0x000ea2000c1e9900,
     LOAD(GLOBAL, 4)},
    {90, "STG.E desc[UR6][R4.64+0x100], R17", 0x0001001104007986, 0x000fe8000c101906,
     STORE(GLOBAL, 4)},
    {90, "ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R18, …", 0x000000120a1279a3, 0x000f2200081effc6,
     ATOM(GLOBAL, 8)},
    {90, "REDG.E.AND.64.STRONG.GPU desc[UR6][R28.64], R4", 0x000000041c00798e, 0x0001e8000e90e586,
     ATOM(GLOBAL, 8)},
    {90, "ATOMG.E.CAS.128.STRONG.GPU PT, RZ, [R2], R8, R12", 0x0000000802ff73a9, 0x00016800001ee90c,
     ATOM(GLOBAL, 16)},
    {90, "LDGSTS.E [R7], desc[UR6][R2.64]", 0x0000000002077fae, 0x000fe8000b921846, COPY(4)},
    {90, "LDGSTS.E.BYPASS.128 [R7+0x4000], …", 0x0400000002077fae, 0x000fe8000b901c46, COPY(16)},
    {100, "LDGSTS.E [R7], desc[UR6][R2.64]", 0x0000000002077fae, 0x010fe8000b9a1006, COPY(4)},
    {100, "LDGSTS.E.BYPASS.128 [R7+0x4000], …", 0x0400000002077fae, 0x000fe8000b981806, COPY(16)},
    {100, "LDG.E.ENL2.256 R20, R16, …", 0xfe0000040210797e, 0x001ea80008121914, LOAD(GLOBAL, 32)},
    {100, "LD.E.64 R16, [R2]", 0x0000000002107980, 0x000ea40000100b00, LOAD(GENERIC, 8)},
    {90, "LDC R1, c[0x0][0x28]", 0x00000a00ff017b82, 0x000fe20000000800, NOTHING},
    {90, "LDL R3, [R13+-0x4]", 0xfffffc000d037983, 0x000ea80000100800, NOTHING},
    {90, "STL [R0], R19", 0x0000001300007387, 0x0001e40000100800, NOTHING},
    {90, "FADD R0, R4, R5", 0x0000000504007221, 0x008fe40000000000, NOTHING},
    {90, "BAR.SYNC.DEFER_BLOCKING 0x0", 0x0000000000007b1d, 0x000fec0000010000, NOTHING},
    {90, "MEMBAR.SC.GPU", 0x0000000000007992, 0x000fec0000002000, NOTHING},
};

Test(exact, instructions)
{
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        unsigned char bytes[SASS_BYTES];
        for (int b = 0; b < 8; b++) {
            bytes[b] = (unsigned char)(instructions[i].low >> 8 * b);
            bytes[8 + b] = (unsigned char)(instructions[i].high >> 8 * b);
        }
        struct sass_access got = sass_access(bytes, instructions[i].arch),
                           want = instructions[i].kind;
        cr_expect(got.operation == want.operation && got.space == want.space &&
                      got.bytes == want.bytes,
                  "sm_%u %s: operation %u in %s of %u bytes", instructions[i].arch,
                  instructions[i].text, got.operation, ptx_space_name(got.space), got.bytes);
    }
}

Test(exact, fused)
{
    static const struct {
        unsigned bytes;
        const char *text;
        uint64_t low, high;
    } rows[] = {
        {4, "FFMA R11, R10, R11, R10", 0x0000000b0a0b7223, 0x000fc8000000000a},
        {0, "FFMA R17, -R0, R15, -RZ", 0x0000000f00117223, 0x000fe200000009ff},
        {8, "DFMA R12, R6, -R12, 1", 0x3ff00000060c742b, 0x000fd0000000080c},
        {2, "HFMA2 R15, R13.H0_H0, 0.5, 0.5, …", 0x380038000d0f7831, 0x000fe20000040812},
        {0, "HFMA2.MMA R11, -RZ, RZ, 0, 0", 0x00000000ff0b7435, 0x000fcc00000001ff},
        {0, "HFMA2.MMA R19, R15, 1, 1, -R16", 0x3c003c000f137835, 0x000fe40000100010},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char bytes[SASS_BYTES];
        memcpy(bytes, &rows[i].low, 8);
        memcpy(bytes + 8, &rows[i].high, 8);
        cr_expect(sass_fused(bytes) == rows[i].bytes, "%s", rows[i].text);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

#define REVERSE "_Z7reversePfPKf"

static bool has_reverse(const struct fatbin_code *code)
{
    struct cubin cubin;
    if (cubin_open(&cubin, code->data, code->size) != NULL) return false;
    bool found = cubin_section(&cubin, ".text.", REVERSE) != 0;
    cubin_close(&cubin);
    return found;
}

/* A copy of the machine code of merged.cu that ends where its memory ends. The linker adds a
 * container of its own, without kernels. */
static unsigned char *read_cubin(size_t *size)
{
    struct elf program;
    struct fatbin_code code = {0};
    size_t left;
    cr_assert(elf_open(PROGRAMS "/merged", &program) == RUNTIME_NONE);
    const unsigned char *at = elf_section(&program, ".nv_fatbin", &left);
    cr_assert(at != NULL);
    while (!fatbin_machine_code(at, left, 90, &code) || !has_reverse(&code)) {
        size_t bytes = fatbin_size(at, left);
        bytes += -bytes % 8;
        cr_assert(bytes > 0 && bytes < left, "there is no machine code in the program");
        at += bytes;
        left -= bytes;
    }
    cr_assert(code.arch == 90 && code.allocated == NULL);
    unsigned char *copy = malloc(code.size);
    memcpy(copy, code.data, code.size);
    *size = code.size;
    elf_close(&program);
    return copy;
}

/* The source line of the first access of this kind in a kernel; 0: no such access. */
static unsigned line_of(const struct cubin *cubin, const char *kernel, struct sass_access kind)
{
    size_t size;
    unsigned section = cubin_section(cubin, ".text.", kernel);
    const unsigned char *code = cubin_content(cubin, section, &size);
    for (size_t at = 0; size - at >= SASS_BYTES; at += SASS_BYTES) {
        struct sass_access found = sass_access(code + at, 90);
        const struct cubin_row *row = cubin_row(cubin, section, at);
        if (found.operation == kind.operation && found.space == kind.space && row != NULL)
            return row->place.line;
    }
    return 0;
}

/* `reverse` in merged.cu stores and loads shared memory in lines 57 and 59. */
Test(exact, lines)
{
    struct cubin cubin;
    size_t size;
    unsigned char *data = read_cubin(&size);
    const char *problem = cubin_open(&cubin, data, size);
    cr_assert(problem == NULL, "%s", problem);
    cr_expect(cubin_section(&cubin, ".text.", "nothing") == 0);
    cr_expect(line_of(&cubin, REVERSE, (struct sass_access)STORE(SHARED, 4)) == 57);
    cr_expect(line_of(&cubin, REVERSE, (struct sass_access)LOAD(SHARED, 4)) == 59);
    cr_expect(line_of(&cubin, REVERSE, (struct sass_access)STORE(GLOBAL, 4)) == 59);
    cr_expect(line_of(&cubin, REVERSE, (struct sass_access)ATOM(GLOBAL, 4)) == 0);
    cubin_close(&cubin);
    free(data);
}

/* Reads every kernel and instruction. */
static void read_everything(const unsigned char *data, size_t size)
{
    struct cubin cubin;
    if (cubin_open(&cubin, data, size) != NULL) return;
    for (unsigned section = 0; section < cubin.file.section_count; section++) {
        size_t bytes;
        const unsigned char *content = cubin_content(&cubin, section, &bytes);
        for (size_t at = 0; content != NULL && bytes - at >= SASS_BYTES; at += SASS_BYTES) {
            sass_access(content + at, 90);
            const struct cubin_row *row = cubin_row(&cubin, section, at);
            if (row != NULL) cr_assert(strlen(row->place.file) < size);
        }
    }
    cubin_section(&cubin, ".text.", "nothing");
    cubin_close(&cubin);
}

/* A damaged file is never read beyond its end: under the sanitizers that would be a crash. */
Test(exact, damaged_machine_code)
{
    enum { TIMES = 3000 };
    size_t size;
    unsigned char *data = read_cubin(&size);
    for (size_t length = 0; length < size; length += 1 + length / 50) {
        unsigned char *part = malloc(length + 1);
        memcpy(part, data, length);
        read_everything(part, length);
        free(part);
    }
    struct cubin cubin;
    cr_assert(cubin_open(&cubin, data, 10) != NULL);
    cr_assert(cubin_open(&cubin, data, size) == NULL);
    size_t lines_size;
    size_t lines =
        (size_t)(cubin_content(&cubin, cubin_section(&cubin, ".debug_line", ""), &lines_size) -
                 data);
    cubin_close(&cubin);
    unsigned seed = 1;
    for (int i = 0; i < TIMES; i++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, data, size);
        size_t table = size > 6000 ? size - 6000 : 0; /* most of the sections' headers */
        for (int k = 0; k < 3; k++) {
            size_t random = (size_t)rand_r(&seed);
            size_t at = i % 3 == 0 ? random % size
                        : i % 3 == 1
                            ? lines + random % lines_size
                            : (random & 64 ? random % 64 : table + random % (size - table));
            copy[at] = (unsigned char)(rand_r(&seed) >> 7);
        }
        read_everything(copy, size);
        free(copy);
    }
    free(data);
}

/* ---- the work of ptxas ----------------------------------------------------------------------- */

static void need_toolkit(void)
{
    cr_assert(run_command("$(common/build/toolkit.sh)/bin/nvcc --version") == 0);
    if (strstr(output, "release 13.0") == NULL) cr_skip("another ptxas may merge otherwise.");
}

#define BY_64 "\"(64, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\","
#define ON_7     "\",\"1\",\"7\","

/* The numbers are those of ncu's Source page on an H200. They follow from the kernels: a warp of
 * `pairs` stores once and loads once, 8 bytes a lane in two wavefronts each; one of `multiply`
 * loads 4 x 16 bytes of its two rows, two wavefronts each since all lanes of a half agree, and 16 x
 * 4 bytes of columns. */
Test(exact, what_was_merged_is_named_and_counts_as_one)
{
    need_toolkit();
    RUNS({0, "$emu --report $p/merged",
          {"pairs\n    merged by ptxas, and counted so, at merged.cu:12 (shared stores: PTX 1 x 4 "
           "bytes, SASS none), merged.cu:13 (shared stores: PTX 1 x 4 bytes, SASS 1 x 8 bytes), "
           "merged.cu:16 (shared loads: PTX 2 x 4 bytes, SASS 1 x 8 bytes) (sm_90)\n",
           "multiply\n    merged by ptxas, and counted so, at merged.cu:28 (shared loads: PTX 32 x "
           "4 bytes, SASS 16 x 4 bytes + 4 x 16 bytes) (sm_90)\n",
           "sort\n    merged by ptxas, and counted so, at merged.cu:43 (shared loads: PTX 56 x 4 "
           "bytes, SASS 42 x 4 bytes + 7 x 8 bytes)",
           "reverse\n    exact (sm_90)\n", "add_shared\n    changed by ptxas at ",
           "unrolled\n    exact; ptxas fuses products and sums otherwise at merged.cu:77: last "
           "bits of results may differ from a GPU's (sm_90)\n"}},
         {0,
          "$emu --csv --metrics smsp__sass_inst_executed_op_shared_ld.sum,"
          "smsp__sass_inst_executed_op_shared_st.sum,memory_l1_wavefronts_shared,"
          "memory_l1_wavefronts_shared_ideal $p/merged",
          {"\"pairs" ON_7 BY_64 "\"2\",\"2\",\"8\",\"8\"\n",
           "\"multiply" ON_7 "\"(16, 16, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\","
           "\"160\",\"16\",\"208\",\"208\"\n",
           "\"sort" ON_7 BY_64 "\"102\",\"102\",\"376\",\"232\"\n",
           "\"reverse" ON_7 BY_64 "\"2\",\"2\",\"4\",\"4\"\n"}},
         {0, "$emu --page raw --kernel-name reverse $p/merged", {"    counters: exact (sm_90)\n"}},
         {0, "$emu --csv --kernel-name multiply $p/merged",
          {",\"emu__machine_code\"\n",
           ",\"merged by ptxas, and counted so, at merged.cu:28 ("}},
         /* The model uses PTX of compute_75, for which the file has no machine code. */
         {0, "$emu --page raw --gpu a100 --kernel-name sort $p/merged",
          {"    counters: unchecked: there is no machine code\n"}});
}

/* The kernels of the steps, whose counters ncu has confirmed, are exact. */
Test(exact, steps)
{
    need_toolkit();
    for (int step = 2; step <= 7; step++) {
        char command[64];
        snprintf(command, sizeof command, EMU " --report ./step%d", step);
        cr_assert(run_command(command) == 0, "%s", output);
        cr_expect(strstr(output, "    exact (sm_90)\n") != NULL);
        cr_expect(strstr(output, "ptxas") == NULL, "step %d:\n%s", step, output);
        cr_expect(strstr(output, "unchecked") == NULL, "step %d:\n%s", step, output);
    }
    /* Cooperative groups call functions of headers; the accesses count on the step's own line. */
    cr_expect(run_command(EMU " --report ./step10") == 0 && !strstr(output, "helpers.h"));
}

/* Asynchronous copies are among the accesses that PTX and machine code have to share. */
Test(exact, copies_slow)
{
    need_toolkit();
    cr_assert(run_command(EMU " --report build/fidelity/patterns") == 0, "%s", output);
    cr_expect(strstr(output, "of_copy\n    exact (sm_90)\n") != NULL);
    cr_expect(strstr(output, "of_copy\n    changed") == NULL, "%s", output);
}

Test(exact, what_cannot_be_reported)
{
    cr_expect(run_command(EMU " --gpu t4 --report ./step3 2>&1") == 0);
    expect("unchecked: there is no machine code");
}

/* ---- the report of a program in memory ------------------------------------------------------- */

/* Opens a program's file in memory that may be written to; the caller frees program->data. */
static void open_copy(const char *path, struct elf *program)
{
    struct elf file;
    cr_assert_eq(elf_open(path, &file), RUNTIME_NONE);
    unsigned char *copy = malloc(file.size);
    memcpy(copy, file.data, file.size);
    *program = file;
    program->data = copy;
    elf_close(&file);
}

/* Writes over a byte of a section's fat binaries and reports. What is printed is in `output`. */
static int report_with_byte(const char *section, size_t at, unsigned char value, char *message)
{
    struct elf program;
    size_t size;
    open_copy(PROGRAMS "/merged", &program);
    unsigned char *content = (unsigned char *)elf_section(&program, section, &size);
    cr_assert(content && at < size);
    content[at] = value;
    *output = '\0';
    FILE *out = fmemopen(output, 1 << 14, "w");
    int kernels = report_agreement(&program, NULL, out, message, 300);
    fclose(out);
    free((void *)program.data);
    return kernels;
}

/* No part of a damaged entry is used, and the message about it stays. */
Test(exact, damaged_containers_are_not_reported)
{
    enum { MAGIC = 0, HEADER_SIZE = 6, ENTRY_SIZE = 16 + 4 };
    char message[300];
    cr_expect_gt(report_with_byte(".nv_fatbin", MAGIC, 0x50, message), 0, "%s", message);
    cr_expect(strstr(output, "reverse(float*, float const*)\n    "), "%s", output);
    cr_expect_eq(report_with_byte(".nv_fatbin", ENTRY_SIZE, 1, message), -1);
    cr_expect(strstr(message, "the program's fat binary is damaged: "), "%s", message);
    cr_expect_str_empty(output);
}

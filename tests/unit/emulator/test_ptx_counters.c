/*
 * test_ptx_counters.c — records of launches, clocks that are computed from a seed, names of source
 * files, and the trace of accesses. (Bank conflicts, sectors and the other counts are in
 * functions.ptx.)
 */
#define _GNU_SOURCE
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32 };

/* ---- records --------------------------------------------------------------------------------- */

Test(emu_counters, records)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(
        emu,
        PTX_KERNEL("k", ".shared .align 4 .b8 s[40];\nmov.u64 %l0, s;\nst.shared.u32 [%l0], 1;\n"
                        "ret;\n"),
        "k");
    uint64_t args[] = {0, 0};
    cr_expect(!emu_count(emu, false));
    cr_assert(!launch(emu, kernel, 1, 32, 0, 2, args), "%s", emu_message(emu));
    cr_expect(emu_records(emu) == 0, "a launch that was not to be counted is");
    cr_expect(!emu_count(emu, true) && emu_count(emu, true));
    cr_assert(!launch(emu, kernel, 3, 33, 100, 2, args));
    cr_assert(!launch(emu, kernel, 1, 1, 0, 2, args));
    cr_assert(emu_records(emu) == 2);

    const struct emu_launch_record *r = emu_record(emu, 0);
    cr_expect(!strcmp(r->kernel, "k") && r->grid.x == 3 && r->grid.y == 1 && r->grid.z == 1);
    cr_expect(r->block.x == 33 && r->dynamic_shared == 100 && r->static_shared == 40);
    cr_expect(r->seconds >= 0 && r->seconds < 60);
    cr_expect(r->total.shared_st.instructions == 3 * 2);
    cr_expect(r->line_count == 0, "lines without -lineinfo");
    cr_expect(emu_record(emu, 1)->id == r->id + 1);
    emu_forget(emu);
    cr_expect(emu_records(emu) == 0);
    emu_close(emu);
}

/* ---- the limit on instructions --------------------------------------------------------------- */

/* Block 1 waits for block 0, which has no place. It is a deadlock, and no loop without an end. */
Test(emu_limits, instructions_of_blocks_that_only_wait_are_a_deadlock)
{
    static const char waits[] = PTX_KERNEL(
        "waits",
        "mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra STORE;\nNEXT:\n"
        "ld.param.u64 %in, [p_in];\nld.volatile.global.u32 %r1, [%in];\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 bra NEXT;\nret;\nSTORE:\nld.param.u64 %in, [p_in];\nst.volatile.global.u32 [%in], "
        "1;\nret;\n");
    struct emu_gpu gpu = *emu_gpu_at(0);
    gpu.sms = gpu.blocks_per_sm = 1;
    struct emu_config config = {.gpu = &gpu,
                                .memory = 1 << 20,
                                .threads = 1,
                                .instruction_limit = 1000000,
                                .descending = true};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, waits, "waits");
    emu_addr out = device_copy(emu, NULL, 4);
    uint64_t args[] = {out, out};
    cr_assert_eq(emu_fill(emu, out, 0, 4), 0);
    cr_expect_eq(launch(emu, kernel, 2, 1, 0, 2, args), EMU_LAUNCH_TIMEOUT);
    cr_expect(strstr(emu_message(emu), "deadlock: the GPU is full, 1 of 2 blocks have begun"), "%s",
              emu_message(emu));
    emu_close(emu);
}

/* ---- clocks and multiprocessor numbers from a seed ------------------------------------------- */

/* Each thread stores clock64, globaltimer, clock64 again, and smid. */
enum { BLOCKS = 64, VALUES = 4 };
static const char clocks[] = PTX_KERNEL(
    "clocks", "sub.u64 %l0, %out, %offset;\nmul.lo.u64 %l1, %offset, 8;\nadd.u64 %l0, %l0, %l1;\n"
              "mov.u64 %l1, %clock64;\nmov.u64 %l2, %globaltimer;\nmov.u64 %l3, %clock64;\n"
              "mov.u32 %r0, %smid;\ncvt.u64.u32 %l4, %r0;\nst.global.u64 [%l0], %l1;\n"
              "st.global.u64 [%l0+8], %l2;\nst.global.u64 [%l0+16], %l3;\n"
              "st.global.u64 [%l0+24], %l4;\nret;\n");

static void read_clocks(uint64_t seed, unsigned threads, uint64_t values[2][BLOCKS][VALUES])
{
    struct emu_config config = {.memory = 1 << 20, .threads = threads, .clock_seed = seed};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, clocks, "clocks");
    emu_addr out = device_copy(emu, NULL, BLOCKS * VALUES * 8);
    uint64_t args[] = {out, out};
    for (int k = 0; k < 2; k++) {
        cr_assert(!launch(emu, kernel, BLOCKS, 1, 0, 2, args), "%s", emu_message(emu));
        cr_assert(!emu_read(emu, values[k], out, sizeof values[k]));
    }
    emu_close(emu);
}

static uint64_t first[2][BLOCKS][VALUES], second[2][BLOCKS][VALUES];

Test(emu_clocks, repeat_with_a_seed)
{
    read_clocks(7, 1, first);
    read_clocks(7, 4, second);
    cr_expect(!memcmp(first, second, sizeof first), "the same seed gives other clocks");
    read_clocks(8, 1, second);
    for (int b = 0; b < BLOCKS; b++)
        for (int v = 0; v < 2; v++)
            cr_expect(first[0][b][v] != second[0][b][v], "block %d, value %d", b, v);
}

/* Blocks run one after the other here, so that later ones must see later times. */
Test(emu_clocks, never_run_backwards)
{
    uint64_t last = 0;
    read_clocks(7, 1, first);
    for (int k = 0; k < 2; k++)
        for (int b = 0; b < BLOCKS; b++) {
            const uint64_t *v = first[k][b];
            cr_expect(v[2] == v[0] + 2, "block %d: clock64 %llu, then %llu", b,
                      (unsigned long long)v[0], (unsigned long long)v[2]);
            cr_expect(v[1] > last, "block %d: globaltimer", b);
            last = v[1];
        }
}

/* Multiprocessors exist, each has one of the 64 blocks at most, and another seed changes them. */
Test(emu_clocks, multiprocessors_are_loaded_evenly)
{
    unsigned blocks_of[132] = {0}, others = 0;
    read_clocks(7, 1, first);
    read_clocks(9, 1, second);
    for (int b = 0; b < BLOCKS; b++) {
        cr_assert(first[0][b][3] < 132);
        cr_expect(++blocks_of[first[0][b][3]] == 1);
        others += first[0][b][3] != second[0][b][3];
    }
    cr_expect(others > BLOCKS / 2, "%u blocks are elsewhere", others);
}

Test(emu_clocks, count_instructions_without_a_seed)
{
    read_clocks(0, 4, first);
    for (int b = 0; b < BLOCKS; b++) {
        cr_expect(first[1][b][0] == first[0][0][0] && first[1][b][2] == first[0][0][0] + 2);
        cr_expect(first[1][b][3] == (uint64_t)b);
    }
}

/* ---- the source lines that counts belong to, in modules with several functions --------------- */

#define STORE "ld.param.u64 %l, [p];\ncvta.to.global.u64 %l, %l;\nst.global.u32 [%l], 1;\n"
#define FUNCTION(name, body)                                                                       \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %l;\n" body "ret;\n}\n"
#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* Launches a kernel of one thread, and returns its record. */
static const struct emu_launch_record *record_of(struct emu *emu, const char *text,
                                                 const char *name)
{
    emu_addr out = device_copy(emu, NULL, 4);
    emu_forget(emu);
    cr_assert(!launch(emu, load_kernel(emu, text, name), 1, 1, 0, 1, (uint64_t[]){out}), "%s",
              emu_message(emu));
    return emu_record(emu, 0);
}

/* nvcc writes bytes that are not ASCII as octal numbers, and others as C does. */
Test(emu_lines, names_of_files_have_escapes)
{
    static const char *const cases[][2] = {{"/d\\303\\251/\\303\\261.cu", "/d\303\251/\303\261.cu"},
                                           {"a\\\\b.cu", "a\\b.cu"},
                                           {"a\\\"b.cu", "a\"b.cu"},
                                           {"a\\tb\\n\\0011.cu", "a\tb\n\0011.cu"},
                                           {"a\\", NULL}};
    char text[500];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        emu_count(emu, true);
        snprintf(text, sizeof text, PTX_HEADER "%s.file 1 \"%s\"\n",
                 FUNCTION("k", ".loc 1 7 3\n" STORE), cases[i][0]);
        if (cases[i][1])
            cr_expect_str_eq(record_of(emu, text, "k")->lines[0].file, cases[i][1]);
        else
            cr_expect_eq(emu_load(emu, text, strlen(text), "k", &module), EMU_INVALID_PTX);
        emu_close(emu);
    }
}

/* ---- the trace has a line for every access to shared and global memory (trace.h) ------------- */

static const char header[] = "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\t"
                             "mask\twavefronts\tideal\tsectors\taddresses\tvalues\n";

enum { FIRST_VALUE = 1000, TRACED = 2 * LANES };

/* Every access has its own line; odd lanes make the last two. */
static const char traced[] = PTX_KERNEL(
    "traced",
    ".shared .align 16 .b8 s[1024];\n.local .align 4 .b8 v[8];\n.loc 1 1 0\n"
    "mov.u32 %r0, %tid.x;\nmov.u64 %l0, s;\nmad.wide.u32 %l1, %r0, 4, %l0;\nand.b32 %r1, %r0, 1;\n"
    "setp.ne.u32 %p0, %r1, 0;\nmov.u64 %l2, v;\nst.local.u32 [%l2], %r0;\n"
    ".loc 1 10 0\nld.global.u32 %r2, [%in];\n"
    ".loc 1 11 0\nst.shared.u32 [%l1], %r2;\n.loc 1 1 0\nbar.sync 0;\n"
    ".loc 1 12 0\nld.shared.v2.u32 {%r3, %r4}, [%l0+8];\n"
    ".loc 1 13 0\natom.shared.add.u32 %r5, [%l0], 1;\n.loc 1 1 0\nbar.sync 0;\n"
    "cvta.shared.u64 %l3, %l1;\n.loc 1 14 0\n@%p0 ld.u32 %r6, [%l3];\n"
    ".loc 1 15 0\n@%p0 st.global.u32 [%out], %r6;\n.loc 1 1 0\nret;\n")
    ".file 1 \"/some/where/traced.cu\"\n";

/* The rows of a block in order, up to the addresses: lane n's is base + step * n. Each loads or
 * stores its thread's own input; those of line 12 two words, and atomics see the first input. */
static const struct want {
    const char *columns;
    bool is_odd;
    enum { SHARED, IN, OUT } base;
    unsigned offset, step;
} wants[] = {
    {"0\ttraced.cu:10\tld\tglobal\t4\tffffffff\t-\t-\t4", false, IN, 0, 4},
    {"0\ttraced.cu:11\tst\tshared\t4\tffffffff\t1\t1\t-", false, SHARED, 0, 4},
    {"1\ttraced.cu:12\tld\tshared\t8\tffffffff\t1\t1\t-", false, SHARED, 8, 0},
    {"1\ttraced.cu:13\tatom\tshared\t4\tffffffff\t32\t1\t-", false, SHARED, 0, 0},
    {"2\ttraced.cu:14\tld\tshared\t4\taaaaaaaa\t1\t1\t-", true, SHARED, 0, 4},
    {"2\ttraced.cu:15\tst\tglobal\t4\taaaaaaaa\t-\t-\t4", true, OUT, 0, 4},
};

static void print_wanted(FILE *file, int launch, unsigned block, const struct want *want,
                         const emu_addr base[3])
{
    unsigned first = FIRST_VALUE + block * LANES, step = want->is_odd ? 2 : 1;
    fprintf(file, "%d\ttraced\t%u\t0\t%s", launch, block, want->columns);
    for (unsigned n = step - 1; n < LANES; n += step)
        fprintf(file, "%c%" PRIx64, n < step ? '\t' : ' ',
                base[want->base] + (want->base ? block * LANES * 4 : 0) + want->offset +
                    n * want->step);
    for (unsigned n = step - 1; n < LANES; n += step) {
        fprintf(file, "%c%08x", n < step ? '\t' : ' ', first + (want->step ? n : want->offset / 4));
        if (want->offset) fprintf(file, ",%08x", first + 3);
    }
    fputc('\n', file);
}

Test(emu_trace, every_access_in_order)
{
    char *text = NULL, *wanted = NULL;
    size_t size = 0;
    uint32_t input[TRACED];
    for (unsigned k = 0; k < TRACED; k++) input[k] = FIRST_VALUE + k;
    FILE *file = open_memstream(&text, &size), *want = open_memstream(&wanted, &size);
    cr_assert(file && want);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.threads = 7, .memory = 16 << 20, .trace = file});
    struct emu_kernel *kernel = load_kernel(emu, traced, "traced");
    emu_addr out = device_copy(emu, NULL, sizeof input),
             in = device_copy(emu, input, sizeof input);
    for (int i = 0; i < 2; i++) /* the header must stand there only once */
        cr_assert(!launch(emu, kernel, 2, LANES, 0, 2, (uint64_t[]){out, in}), "%s",
                  emu_message(emu));
    emu_close(emu);
    fclose(file); /* the caller owns the trace; closing the device left it open */

    fputs(header, want);
    int first = atoi(text + strlen(header));
    for (int l = 0; l < 2; l++)
        for (unsigned block = 0; block < 2; block++)
            for (size_t k = 0; k < sizeof wants / sizeof *wants; k++)
                print_wanted(want, first + l, block, &wants[k], (emu_addr[]){0, in, out});
    fclose(want);
    cr_expect_str_eq(text, wanted);
    free(text), free(wanted);
}

/*
 * clocks.c — results that must not depend on the machine: the limit on instructions, for any number
 * of host threads; clocks and multiprocessor numbers that are computed from a seed.
 */
#define _POSIX_C_SOURCE 200809L
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, THREADS = 64, WARPS = BLOCKS * THREADS / 32 };

/* ---- the limit on instructions --------------------------------------------------------------- */

/* Each block loops a different number of times. */
static const char loops[] = PTX_KERNEL(
    "loops",
    "mov.u32 %r0, %ctaid.x;\nand.b32 %r0, %r0, 7;\nshl.b32 %r0, %r0, 6;\nadd.u32 %r0, %r0, 100;\n"
    "mov.u32 %r1, 0;\nNEXT:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\n"
    "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra NEXT;\nret;\n");

/* Returns the launch's error. Stores its message, and its count of instructions (0: none). */
static int run_with_limit(const char *text, const char *name, unsigned threads, uint64_t limit,
                          char message[400], uint64_t *counted)
{
    struct emu_config config = {.memory = 1 << 20, .threads = threads, .instruction_limit = limit};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, text, name);
    emu_addr out = device_copy(emu, NULL, BLOCKS * THREADS * 4);
    uint64_t args[] = {out, out};
    emu_count(emu, true);
    int error = launch(emu, kernel, BLOCKS, THREADS, 0, 2, args);
    snprintf(message, 400, "%s", error ? emu_message(emu) : "");
    *counted = emu_records(emu) ? emu_record(emu, 0)->total.instructions : 0;
    emu_close(emu);
    return error;
}

Test(emu_limits, instructions_are_exact_for_any_number_of_host_threads)
{
    char message[400];
    uint64_t all, counted;
    cr_assert(!run_with_limit(loops, "loops", 1, 0, message, &all) && all > 100 * WARPS);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        cr_expect(!run_with_limit(loops, "loops", threads, all, message, &counted), "%s", message);
        cr_expect(counted == all);
        int error = run_with_limit(loops, "loops", threads, all - 1, message, &counted);
        cr_expect(error == EMU_LAUNCH_TIMEOUT, "%u threads: %d", threads, error);
        char want[200];
        snprintf(want, sizeof want,
                 "kernel loops has executed more than %llu warp instructions, and"
                 " EMU_KERNEL_INSTRUCTIONS allows no more",
                 (unsigned long long)all - 1);
        cr_expect(!strcmp(message, want), "%s", message);
    }
}

/* A loop that changes memory for ever, one that does nothing, and one that polls. */
Test(emu_limits, instructions_end_endless_loops)
{
    static const char *const bodies[] = {
        "L:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\nbra L;\n", "L:\nbra L;\n",
        "L:\nld.volatile.global.u32 %r1, [%out];\nbra L;\n"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            char message[400], *text = ptx_kernel("%s", bodies[k]);
            uint64_t counted;
            int error = run_with_limit(text, "k", threads, 100000, message, &counted);
            cr_expect(error == EMU_LAUNCH_TIMEOUT, "%s: %d %s", bodies[k], error, message);
            cr_expect(!strcmp(message, "kernel k has executed more than 100000 warp instructions, "
                                       "and EMU_KERNEL_INSTRUCTIONS allows no more"),
                      "%s", message);
            free(text);
        }
}

/* Bulk copies count by their bytes: 100 copies of 8 KiB exceed a limit that is far above the number
 * of their instructions. */
Test(emu_limits, bulk_copies_count_by_their_bytes)
{
    static const char copies[] = PTX_KERNEL(
        "copies", ".shared .align 16 .b8 s[8192];\nmov.u32 %r1, 0;\nmov.u32 %r0, s;\nNEXT:\n"
                  "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 8192;\n"
                  "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 100;\n@%p0 bra NEXT;\nret;\n");
    struct emu_config config = {.memory = 1 << 20, .threads = 1, .instruction_limit = 10000};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, copies, "copies");
    emu_addr out = device_copy(emu, NULL, 8192);
    uint64_t args[] = {out, out};
    cr_expect_eq(launch(emu, kernel, 1, 1, 0, 2, args), EMU_LAUNCH_TIMEOUT, "%s", emu_message(emu));
    emu_close(emu);
}

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

/* Each launch has the whole limit. */
Test(emu_limits, instructions_are_those_of_one_launch)
{
    struct emu_config config = {.memory = 1 << 20, .threads = 1, .instruction_limit = 1000};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, PTX_KERNEL("k", "ret;\n"), "k");
    uint64_t args[] = {0, 0};
    for (int k = 0; k < 20; k++)
        cr_assert(!launch(emu, kernel, 1, 128, 0, 2, args), "%s", emu_message(emu));
    emu_close(emu);
}

Test(emu_limits, instructions_as_a_finding)
{
    struct emu_config config = {
        .memory = 1 << 20, .threads = 1, .instruction_limit = 1000, .checks = EMU_CHECK_SYNC};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, PTX_KERNEL("k", "L:\nbra L;\n"), "k");
    uint64_t args[] = {0, 0};
    cr_expect(launch(emu, kernel, 4, 64, 0, 2, args) == EMU_LAUNCH_TIMEOUT);
    cr_assert(emu_findings(emu) == 1);
    cr_expect(strstr(emu_finding(emu, 0)->head, "more than 1000 warp instructions"));
    emu_close(emu);
}

/* ---- clocks from a seed ---------------------------------------------------------------------- */

/* Each thread stores clock64, globaltimer, clock64 again, and smid. */
enum { VALUES = 4 };
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

/* While a thread polls, its clock advances only by the instructions that it has executed. */
Test(emu_clocks, stand_still_while_a_warp_waits)
{
    struct emu *emu = open_emu();
    uint32_t in[1] = {0}, out[1];
    char *text = ptx_kernel("mov.u64 %%l0, %%clock64;\nmov.u32 %%r0, 0;\nL:\n"
                            "ld.volatile.global.u32 %%r1, [%%in];\nadd.u32 %%r0, %%r0, 1;\n"
                            "setp.lt.u32 %%p0, %%r0, 10;\n@%%p0 bra L;\nmov.u64 %%l1, %%clock64;\n"
                            "sub.u64 %%l1, %%l1, %%l0;\ncvt.u32.u64 %%r1, %%l1;\n"
                            "st.global.u32 [%%out], %%r1;\nret;\n");
    run_kernel(emu, text, 1, 1, out, in);
    cr_expect(out[0] == 2 + 10 * 4, "%u instructions", out[0]);
    emu_close(emu);
    free(text);
}

/* ---- loops that only wait for a clock -------------------------------------------------------- */

/* Waits until %clock64 has advanced by `asked`, doing `more` in each pass of the loop. Returns how
 * far it has advanced, or 0 if that took more than 100000 instructions. */
static uint64_t wait_for(uint64_t asked, const char *more, uint64_t seed)
{
    struct emu_config config = {
        .memory = 1 << 20, .threads = 1, .instruction_limit = 100000, .clock_seed = seed};
    struct emu *emu = open_emu_with(&config);
    char *text = ptx_kernel("mov.u64 %%l0, %%clock64;\nL:\n%s\nmov.u64 %%l1, %%clock64;\n"
                            "sub.u64 %%l2, %%l1, %%l0;\nsetp.lt.u64 %%p0, %%l2, %llu;\n"
                            "@%%p0 bra L;\nst.global.u64 [%%out], %%l2;\nret;\n",
                            more, (unsigned long long)asked);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr out = device_copy(emu, NULL, 4096);
    uint64_t args[] = {out, out}, passed = 0;
    int error = launch(emu, kernel, 1, 1, 0, 2, args);
    cr_assert(!error || error == EMU_LAUNCH_TIMEOUT, "%s", emu_message(emu));
    if (!error) cr_assert(!emu_read(emu, &passed, out, sizeof passed));
    emu_close(emu);
    free(text);
    return passed;
}

Test(emu_clocks, leap_over_a_loop_that_only_waits)
{
    const uint64_t asked = 1 << 30;
    for (uint64_t seed = 0; seed < 2; seed++) {
        uint64_t passed = wait_for(asked, "", seed);
        cr_expect(passed >= asked && passed <= asked + asked / 32 + 4, "%llu",
                  (unsigned long long)passed);
        cr_expect_eq(wait_for(asked, "", seed), passed);
        cr_expect(wait_for(asked, "add.u32 %r3, %r3, 1;", seed) >= asked);
    }
}

Test(emu_clocks, count_instructions_of_other_loops)
{
    static const char *const more[] = {"ld.volatile.global.u32 %r3, [%in];",
                                       "st.global.u32 [%out+16], %r3;",
                                       "atom.global.add.u32 %r3, [%out+16], 1;",
                                       "bar.warp.sync -1;",
                                       "@%p1 bra M;\nM:",
                                       "mov.u64 %l3, %clock64;",
                                       "add.u64 %l0, %l0, 1;"};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        cr_expect(!wait_for(1 << 30, more[k], 0), "leaps over a loop with: %s", more[k]);
}

/* On a GPU, too, this loop ends only after years. */
Test(emu_clocks, wait_for_ever_where_a_gpu_does) { cr_expect(!wait_for(1ULL << 60, "", 0)); }

/* A loop works for as long as time allows, but for at most 1000 passes: it has the time for all. */
Test(emu_clocks, count_instructions_of_a_loop_with_a_limit_on_its_passes)
{
    struct emu *emu = open_emu();
    uint32_t in[1] = {0}, out[1];
    char *text = ptx_kernel("mov.u64 %%l0, %%clock64;\nmov.u32 %%r0, 0;\nL:\n"
                            "mov.u64 %%l1, %%clock64;\nsub.u64 %%l1, %%l1, %%l0;\n"
                            "setp.lt.u64 %%p1, %%l1, 100000;\nadd.u32 %%r0, %%r0, 1;\n"
                            "setp.lt.u32 %%p0, %%r0, 1000;\nand.pred %%p0, %%p0, %%p1;\n"
                            "@%%p0 bra L;\nst.global.u32 [%%out], %%r0;\nret;\n");
    run_kernel(emu, text, 1, 1, out, in);
    cr_expect_eq(out[0], 1000, "%u passes", out[0]);
    emu_close(emu);
    free(text);
}

/* The condition of this loop does not depend on the clock. */
Test(emu_clocks, count_instructions_of_a_loop_that_measures)
{
    struct emu *emu = open_emu();
    uint32_t in[1] = {0}, out[1];
    char *text = ptx_kernel("mov.u64 %%l0, %%clock64;\nmov.u32 %%r0, 0;\nL:\n"
                            "mov.u64 %%l1, %%clock64;\nadd.u32 %%r0, %%r0, 1;\n"
                            "setp.lt.u32 %%p0, %%r0, 1000;\n@%%p0 bra L;\n"
                            "sub.u64 %%l1, %%l1, %%l0;\ncvt.u32.u64 %%r1, %%l1;\n"
                            "st.global.u32 [%%out], %%r1;\nret;\n");
    run_kernel(emu, text, 1, 1, out, in);
    cr_expect(out[0] == 2 + 999 * 4, "%u instructions", out[0]);
    emu_close(emu);
    free(text);
}

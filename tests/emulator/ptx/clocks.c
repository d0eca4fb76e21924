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

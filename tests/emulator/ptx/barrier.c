/*
 * barrier.c — block barriers: used correctly, in divergent code, and not reached by all threads;
 * deadlocks; launches beyond the limits. The number of host threads changes no result.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, WARP = 32 };

/* A kernel whose file has a name. */
#define BARRIER_KERNEL(body) PTX_KERNEL("meet", body) ".file 1 \"barrier.cu\"\n"

/* Runs "meet" with BLOCK threads per block; out has one word per thread, or is NULL. Returns the
 * error. */
static int run_blocks(struct emu *emu, const char *text, uint32_t *out, unsigned blocks)
{
    struct emu_kernel *kernel = load_kernel(emu, text, "meet");
    size_t bytes = blocks * BLOCK * sizeof(uint32_t);
    emu_addr out_device = device_copy(emu, NULL, bytes);
    int e = launch(emu, kernel, blocks, BLOCK, 0, 2, (uint64_t[]){out_device, out_device});
    if (!e && out) cr_assert(!emu_read(emu, out, out_device, bytes), "%s", emu_message(emu));
    return e;
}

/* ---- barriers that all threads reach --------------------------------------------------------- */

/* Each round moves every element one thread on; a missing or early barrier would lose some. */
#define ROTATE(barrier)                                                                            \
    BARRIER_KERNEL(".shared .align 4 .b8 s[512];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %r0;\n"       \
                   "shl.b32 %r2, %r0, 2;\nmov.u32 %r3, s;\nadd.u32 %r4, %r3, %r2;\n"               \
                   "add.u32 %r5, %r0, 1;\nand.b32 %r5, %r5, 127;\nshl.b32 %r5, %r5, 2;\n"          \
                   "add.u32 %r5, %r3, %r5;\nmov.u32 %r6, 0;\n"                                     \
                   "ROUND: st.shared.u32 [%r4], %r1;\n" barrier                                    \
                   "\nld.shared.u32 %r1, [%r5];\n" barrier                                         \
                   "\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p0, %r6, 10;\n@%p0 bra ROUND;\n"          \
                   "st.global.u32 [%out], %r1;\nret;\n")

Test(emu_barrier, keeps_all_threads_in_step, .timeout = 20)
{
    static const char *const kernels[] = {
        ROTATE("bar.sync 0;"),
        ROTATE("barrier.sync 0;"),
        ROTATE("bar.sync 5;"),
        ROTATE("bar.sync 3, 128;"),
        ROTATE("barrier.sync 15, 128;"),
        ROTATE("barrier.cta.sync 0;"),
        ROTATE("mov.u32 %r20, 2;\nbar.sync %r20;"),
        ROTATE("barrier.sync.aligned 0;"),
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct emu *emu = open_emu();
        uint32_t out[3 * BLOCK];
        int e = run_blocks(emu, kernels[i], out, 3);
        cr_assert(!e, "kernel %zu: error %d: %s", i, e, emu_message(emu));
        for (unsigned t = 0; t < 3 * BLOCK; t++)
            cr_expect(out[t] == (t % BLOCK + 10) % BLOCK, "kernel %zu: thread %u: %u", i, t,
                      out[t]);
        emu_close(emu);
    }
}

/* Warps 0 and 1 wait at barrier 1, warps 2 and 3 at barrier 2, with different numbers of rounds. */
Test(emu_barrier, named_barriers_of_some_warps, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        ".shared .align 4 .b8 s[512];\nmov.u32 %r0, %tid.x;\nshl.b32 %r2, %r0, 2;\nmov.u32 %r3, "
        "s;\n"
        "add.u32 %r4, %r3, %r2;\nxor.b32 %r5, %r2, 128;\nadd.u32 %r5, %r3, %r5;\n"
        "mov.u32 %r1, %r0;\nmov.u32 %r6, 0;\nsetp.ge.u32 %p0, %r0, 64;\n@%p0 bra HIGH;\n"
        "A: st.shared.u32 [%r4], %r1;\nbar.sync 1, 64;\nld.shared.u32 %r1, [%r5];\nbar.sync 1, "
        "64;\n"
        "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 5;\n@%p1 bra A;\nbra DONE;\n"
        "HIGH: st.shared.u32 [%r4], %r1;\nbar.sync 2, 64;\nld.shared.u32 %r1, [%r5];\nbar.sync 2, "
        "64;\n"
        "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 8;\n@%p1 bra HIGH;\n"
        "DONE: bar.sync 0;\nst.global.u32 [%out], %r1;\nret;\n");
    struct emu *emu = open_emu();
    uint32_t out[BLOCK];
    int e = run_blocks(emu, text, out, 1);
    cr_assert(!e, "%s", emu_message(emu));
    for (unsigned t = 0; t < BLOCK; t++)
        cr_expect(out[t] == (t < 64 ? t ^ 32 : t), "thread %u: %u", t, out[t]); /* 5 and 8 swaps */
    emu_close(emu);
}

/* Warp 0 arrives without waiting; the others wait for it. */
Test(emu_barrier, producers_and_consumers, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        ".shared .align 4 .b8 s[128];\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\n"
        "shl.b32 %r1, %r1, 2;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r1;\nmov.u32 %r3, 5;\n"
        "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra CONSUMER;\n"
        "add.u32 %r4, %r0, 1000;\nst.shared.u32 [%r2], %r4;\nbar.arrive 1, 128;\nbra DONE;\n"
        "CONSUMER: bar.sync 1, 128;\nld.shared.u32 %r3, [%r2];\n"
        "DONE: st.global.u32 [%out], %r3;\nret;\n");
    struct emu *emu = open_emu();
    uint32_t out[BLOCK];
    cr_assert(!run_blocks(emu, text, out, 1), "%s", emu_message(emu));
    for (unsigned t = 0; t < BLOCK; t++)
        cr_expect(out[t] == (t < 32 ? 5 : 1000 + t % 32), "thread %u: %u", t, out[t]);
    emu_close(emu);
}

/* bar.red counts or combines a predicate over the block. */
Test(emu_barrier, reductions, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 50;\nsetp.lt.u32 %p1, %r0, 128;\n"
        "setp.gt.u32 %p2, %r0, 500;\nbar.red.popc.u32 %r1, 0, %p0;\n"
        "bar.red.and.pred %p3, 0, %p0;\nselp.u32 %r2, 1000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\n"
        "bar.red.and.pred %p3, 0, %p1;\nselp.u32 %r2, 2000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\n"
        "bar.red.or.pred %p3, 0, %p0;\nselp.u32 %r2, 4000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\n"
        "bar.red.or.pred %p3, 0, %p2;\nselp.u32 %r2, 8000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\n"
        "bar.red.popc.u32 %r2, 1, 128, !%p0;\nmad.lo.u32 %r1, %r2, 100000, %r1;\n"
        "st.global.u32 [%out], %r1;\nret;\n");
    struct emu *emu = open_emu();
    uint32_t out[BLOCK];
    cr_assert(!run_blocks(emu, text, out, 1), "%s", emu_message(emu));
    for (unsigned t = 0; t < BLOCK; t++)
        cr_expect(out[t] == 50 + 2000 + 4000 + 78 * 100000, "thread %u: %u", t, out[t]);
    emu_close(emu);
}

/* Half of each warp waits at the barrier in one branch, half in the other (legal since Volta). */
Test(emu_barrier, one_barrier_in_two_branches, .timeout = 20)
{
    static const char text[] =
        BARRIER_KERNEL(".shared .align 4 .b8 s[512];\nmov.u32 %r0, %tid.x;\nshl.b32 %r2, %r0, "
                       "2;\nmov.u32 %r3, s;\n"
                       "add.u32 %r4, %r3, %r2;\nxor.b32 %r5, %r2, 4;\nadd.u32 %r5, %r3, %r5;\n"
                       "st.shared.u32 [%r4], %r0;\nand.b32 %r6, %r0, 1;\nsetp.eq.u32 %p0, %r6, "
                       "0;\n@%p0 bra EVEN;\n"
                       "barrier.sync 0;\nbra JOIN;\nEVEN: barrier.sync 0;\n"
                       "JOIN: ld.shared.u32 %r1, [%r5];\nst.global.u32 [%out], %r1;\nret;\n");
    struct emu *emu = open_emu();
    uint32_t out[BLOCK];
    cr_assert(!run_blocks(emu, text, out, 1), "%s", emu_message(emu));
    for (unsigned t = 0; t < BLOCK; t++) cr_expect(out[t] == (t ^ 1), "thread %u: %u", t, out[t]);
    emu_close(emu);
}

/* ---- barriers that some threads do not reach ------------------------------------------------- */

static const struct missed {
    const char *name, *text;
    bool exited; /* the others have exited: lenient makes it right */
    bool whole;  /* by whole warps, which PTX allows */
} missed[] = {
    {"threads that returned",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 100;\n@%p0 ret;\n"
                    ".loc 1 12 0\nbar.sync 0;\n.loc 1 13 0\nst.global.u32 [%out], 1;\nret;\n"),
     true, false},
    {"a whole warp that returned",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 64;\n@%p0 exit;\n"
                    ".loc 1 12 0\nbar.sync 0;\n.loc 1 13 0\nst.global.u32 [%out], 1;\nret;\n"),
     true, true},
    {"a loop that some leave early",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nadd.u32 %r0, %r0, 1;\n"
                    "LOOP:\n.loc 1 12 0\nbar.sync 0;\n.loc 1 13 0\nsub.u32 %r0, %r0, 1;\n"
                    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra LOOP;\nst.global.u32 [%out], 1;\nret;\n"),
     true, false},
    {"warps at different barriers",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 64;\n@%p0 bra A;\n"
                    ".loc 1 12 0\nbar.sync 1;\nbra DONE;\n.loc 1 12 0\nA: bar.sync 2;\n"
                    "DONE: st.global.u32 [%out], 1;\nret;\n"),
     false, false},
    {"a number of threads, some of which have exited",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 exit;\n"
                    ".loc 1 12 0\nbar.sync 1, 64;\n.loc 1 13 0\nst.global.u32 [%out], 1;\nret;\n"),
     false, false},
    {"too many are waited for",
     BARRIER_KERNEL(".loc 1 10 0\nmov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 64;\n@%p0 bra DONE;\n"
                    ".loc 1 12 0\nbar.sync 1, 96;\n.loc 1 13 0\nDONE: bar.sync 0;\n"
                    "st.global.u32 [%out], 1;\nret;\n"),
     false, false},
};

Test(emu_barrier, missed, .timeout = 20)
{
    for (size_t i = 0; i < sizeof missed / sizeof *missed; i++)
        for (int allow = 0; allow < 2; allow++) {
            struct emu *emu = open_emu_with(
                &(struct emu_config){.threads = 1, .memory = 16 << 20, .lenient = allow});
            struct emu_kernel *kernel = load_kernel(emu, missed[i].text, "meet");
            emu_addr out = device_copy(emu, NULL, BLOCK * 4);
            int e = launch(emu, kernel, 1, BLOCK, 0, 2, (uint64_t[]){out, out});
            const char *message = emu_message(emu);
            if (missed[i].whole || (allow && missed[i].exited)) {
                cr_expect(!e, "%s, allowed: error %d: %s", missed[i].name, e, message);
            } else {
                cr_expect(e == EMU_LAUNCH_FAILURE, "%s: error %d: %s", missed[i].name, e, message);
                static const char *const parts[] = {"meet", "barrier.cu:12", "block (0,0,0)",
                                                    "thread ("};
                for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                    cr_expect(strstr(message, parts[p]), "%s: no \"%s\" in the message: %s",
                              missed[i].name, parts[p], message);
            }
            emu_close(emu);
        }
}

/* Only thread 0 has exited. The memory behind the block's warps in the emulator must not matter: it
 * is shared memory full of ones. */
Test(emu_barrier, only_threads_of_the_block_have_exited, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        ".shared .align 4 .b8 s[8192];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ntid.x;\n"
        "mov.u32 %r2, s;\nmov.u32 %r3, %r0;\nmov.u32 %r4, 0xffffffff;\n"
        "FILL: shl.b32 %r5, %r3, 2;\nadd.u32 %r5, %r2, %r5;\nst.shared.u32 [%r5], %r4;\n"
        "add.u32 %r3, %r3, %r1;\nsetp.lt.u32 %p0, %r3, 2048;\n@%p0 bra FILL;\n"
        "setp.eq.u32 %p0, %r0, 0;\n@%p0 ret;\nbar.sync 0;\nst.global.u32 [%out], 1;\nret;\n");
    for (unsigned block = 32; block <= 1024; block += 32) {
        struct emu *emu = open_emu();
        char part[80];
        snprintf(part, sizeof part, "%u of %u threads wait here, 1 has exited ", block - 1, block);
        struct emu_kernel *kernel = load_kernel(emu, text, "meet");
        emu_addr out = device_copy(emu, NULL, 4);
        int e = launch(emu, kernel, 1, block, 0, 2, (uint64_t[]){out, out});
        cr_expect(e == EMU_LAUNCH_FAILURE && strstr(emu_message(emu), part), "error %d: %s", e,
                  emu_message(emu));
        emu_close(emu);
    }
}

/* A loop that nothing can end: of all warps, and of one warp while the other waits at a barrier. */
static const char *const endless[] = {
    BARRIER_KERNEL(
        ".loc 1 12 0\nLOOP: atom.global.add.u32 %r0, [%out], 0;\nsetp.eq.u32 %p0, %r0, 0;\n"
        "@%p0 bra LOOP;\nret;\n"),
    BARRIER_KERNEL("mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bra MEET;\n.loc 1 12 0\n"
                   "LOOP: ld.volatile.global.u32 %r0, [%out];\nsetp.eq.u32 %p0, %r0, 0;\n"
                   "@%p0 bra LOOP;\nMEET: bar.sync 0;\nret;\n"),
};

Test(emu_barrier, a_spin_without_end_is_given_up_slow, .timeout = 30)
{
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        struct emu *emu = open_emu_with(&(struct emu_config){.memory = 16 << 20, .patience = 1});
        struct emu_kernel *kernel = load_kernel(emu, endless[i], "meet");
        emu_addr out = device_copy(emu, NULL, 2 * BLOCK * 4);
        int e = launch(emu, kernel, 2, BLOCK, 0, 2, (uint64_t[]){out, out});
        const char *message = emu_message(emu);
        cr_expect(e == EMU_LAUNCH_TIMEOUT, "%zu: error %d: %s", i, e, message);
        cr_expect(strstr(message, "barrier.cu:12") && strstr(message, "meet"), "%zu: %s", i,
                  message);
        emu_close(emu);
    }
}

/* A slow block is not stuck: a block that changes memory may run for longer than the time limit. */
Test(emu_barrier, a_slow_block_is_not_given_up_slow, .timeout = 30)
{
    static const char text[] = BARRIER_KERNEL(
        ".reg .b64 %start, %now;\nmov.u64 %start, %globaltimer;\nmov.u32 %r0, 1;\n"
        "LOOP: st.global.u32 [%out], %r0;\nadd.u32 %r0, %r0, 1;\nmov.u64 %now, %globaltimer;\n"
        "sub.u64 %now, %now, %start;\nsetp.lt.u64 %p0, %now, 1800000000;\n@%p0 bra LOOP;\nret;\n");
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 16 << 20, .patience = 1});
    struct emu_kernel *kernel = load_kernel(emu, text, "meet");
    emu_addr out = device_copy(emu, NULL, BLOCK * 4);
    int e = launch(emu, kernel, 1, 32, 0, 2, (uint64_t[]){out, out});
    cr_expect(!e, "error %d: %s", e, emu_message(emu));
    emu_close(emu);
}

/* Only one block of many is at fault: the message names it. */
Test(emu_barrier, the_message_names_the_block, .timeout = 20)
{
    static const char text[] =
        BARRIER_KERNEL("mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p0, %r1, 2;\n"
                       "setp.eq.u32 %p1, %r0, 7;\nand.pred %p0, %p0, %p1;\n@%p0 ret;\n"
                       ".loc 1 33 0\nbar.sync 0;\nret;\n");
    struct emu *emu = open_emu();
    int e = run_blocks(emu, text, NULL, 4);
    cr_expect(e == EMU_LAUNCH_FAILURE && strstr(emu_message(emu), "block (2,0,0)") &&
                  strstr(emu_message(emu), "barrier.cu:33"),
              "error %d: %s", e, emu_message(emu));
    emu_close(emu);
}

/* A warp barrier whose mask names a lane that waits at another place for ever. */
Test(emu_barrier, deadlock_within_a_warp, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        "mov.u32 %r0, %laneid;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra LOW;\n"
        ".loc 1 12 0\nbar.warp.sync 0xffffffff;\nbra DONE;\n"
        "LOW:\n.loc 1 12 0\nbarrier.sync 1, 128;\nDONE: st.global.u32 [%out], 1;\nret;\n");
    struct emu *emu = open_emu();
    int e = run_blocks(emu, text, NULL, 1);
    cr_expect(e == EMU_LAUNCH_FAILURE && strstr(emu_message(emu), "barrier.cu:12") &&
                  strstr(emu_message(emu), "meet"),
              "error %d: %s", e, emu_message(emu));
    emu_close(emu);
}

/* ---- launches beyond the limits -------------------------------------------------------------- */

Test(emu_barrier, launch_limits)
{
    static const struct {
        const char *name;
        struct emu_dim grid, block;
        size_t shared;
        int want;
    } launches[] = {
        {"the largest block", {1, 1, 1}, {1024, 1, 1}, 0, EMU_OK},
        {"the largest flat block", {1, 1, 1}, {32, 32, 1}, 0, EMU_OK},
        {"z of a block at its limit", {1, 1, 1}, {1, 1, 64}, 0, EMU_OK},
        {"grid in three dimensions", {3, 2, 4}, {8, 1, 1}, 0, EMU_OK},
        {"much shared memory", {1, 1, 1}, {32, 1, 1}, 48 * 1024, EMU_OK},
        {"block too large", {1, 1, 1}, {1025, 1, 1}, 0, EMU_INVALID_VALUE},
        {"block too large in two dimensions", {1, 1, 1}, {64, 32, 1}, 0, EMU_INVALID_VALUE},
        {"block too deep", {1, 1, 1}, {1, 1, 65}, 0, EMU_INVALID_VALUE},
        {"no threads", {1, 1, 1}, {0, 1, 1}, 0, EMU_INVALID_VALUE},
        {"no threads in y", {1, 1, 1}, {32, 0, 1}, 0, EMU_INVALID_VALUE},
        {"no blocks", {0, 1, 1}, {32, 1, 1}, 0, EMU_INVALID_VALUE},
        {"no blocks in z", {1, 1, 0}, {32, 1, 1}, 0, EMU_INVALID_VALUE},
        {"grid too high", {1, 65536, 1}, {1, 1, 1}, 0, EMU_INVALID_VALUE},
        {"grid too wide", {0x80000000, 1, 1}, {1, 1, 1}, 0, EMU_INVALID_VALUE},
        {"product that overflows", {1, 1, 1}, {65536, 65536, 1}, 0, EMU_INVALID_VALUE},
        {"too much shared memory", {1, 1, 1}, {32, 1, 1}, 228 * 1024, EMU_INVALID_VALUE},
        {"absurd shared memory", {1, 1, 1}, {32, 1, 1}, SIZE_MAX, EMU_INVALID_VALUE},
    };
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, PTX_KERNEL("k", "ret;\n"), "k");
    uint64_t zero = 0;
    void *args[] = {&zero, &zero};
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        int e = emu_launch(emu, kernel, launches[i].grid, launches[i].block, launches[i].shared,
                           args, false);
        bool right = e == launches[i].want;
        cr_expect(right, "%s: error %d, want %d: %s", launches[i].name, e, launches[i].want,
                  emu_message(emu));
        cr_expect(!e || emu_message(emu)[0], "%s: no message", launches[i].name);
    }
    emu_close(emu);
}

Test(emu_barrier, most_local_memory)
{
    enum { MOST = 512 << 10, STEP = 16 };
    for (unsigned bytes = MOST; bytes <= MOST + STEP; bytes += STEP) {
        struct emu *emu = open_emu();
        char *text =
            ptx_kernel(".local .b8 a[%u];\n.reg .b64 %%a;\nmov.u64 %%a, a;\nret;\n", bytes);
        struct emu_kernel *kernel = load_kernel(emu, text, "k");
        uint64_t zero = 0;
        void *args[] = {&zero, &zero};
        int e = emu_launch(emu, kernel, (struct emu_dim){1, 1, 1}, (struct emu_dim){32, 1, 1}, 0,
                           args, false);
        cr_expect_eq(e, bytes == MOST ? EMU_OK : EMU_LAUNCH_OUT_OF_RESOURCES, "%s",
                     emu_message(emu));
        if (e)
            cr_expect(strstr(emu_message(emu), "524304 bytes of local memory a thread; a GPU has"
                                               " at most 524288"),
                      "%s", emu_message(emu));
        emu_close(emu);
        free(text);
    }
}

/* .maxntid is a promise that the launch must keep. */
Test(emu_barrier, promised_block_size)
{
    static const char text[] =
        PTX_HEADER ".visible .entry k()\n.maxntid 64, 1, 1\n{\nret;\n}\n"
                   ".visible .entry exact()\n.reqntid 32, 2, 1\n{\nret;\n}\n";
    struct emu *emu = open_emu();
    struct emu_module *module;
    struct emu_kernel *k, *exact;
    cr_assert(!emu_load(emu, text, strlen(text), "limits.ptx", &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, "k", &k) && !emu_kernel(emu, module, "exact", &exact), "%s",
              emu_message(emu));
    struct emu_dim one = {1, 1, 1};
    cr_expect(emu_kernel_info(k)->max_threads == 64);
    cr_expect(!emu_launch(emu, k, one, (struct emu_dim){64, 1, 1}, 0, NULL, false));
    int e = emu_launch(emu, k, one, (struct emu_dim){65, 1, 1}, 0, NULL, false);
    cr_expect(e == EMU_LAUNCH_OUT_OF_RESOURCES || e == EMU_INVALID_VALUE || e == EMU_INVALID_VALUE,
              "error %d: %s", e, emu_message(emu));
    cr_expect(!emu_launch(emu, exact, one, (struct emu_dim){32, 2, 1}, 0, NULL, false), "%s",
              emu_message(emu));
    cr_expect(emu_launch(emu, exact, one, (struct emu_dim){64, 1, 1}, 0, NULL, false) != 0);
    emu_close(emu);
}

/* .minnctapersm is a promise that ptxas keeps: it divides a multiprocessor's 65536 registers among
 * the blocks. */
Test(emu_barrier, promised_blocks)
{
    static const struct {
        const char *promise;
        unsigned registers;
    } cases[] = {
        {"", 14},
        {".maxntid 1024, 1, 1\n.minnctapersm 2\n", 14},
        {".maxntid 1024, 1, 1\n.minnctapersm 6\n", 8}, /* 65536 / 6144 is 10, in steps of 8: 8 */
    };
    static const char body[] = "{\n.reg .b64 %l<5>;\nld.param.u64 %l0, [p];\n"
                               "ld.v2.u64 {%l1, %l2}, [%l0];\nld.v2.u64 {%l3, %l4}, [%l0+16];\n"
                               "st.v2.u64 [%l0], {%l1, %l2};\nst.v2.u64 [%l0], {%l3, %l4};\n"
                               "ret;\n}\n";
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, PTX_HEADER ".visible .entry k(.param .u64 p)\n%s%s",
                 cases[i].promise, body);
        unsigned registers = emu_kernel_info(load_kernel(emu, text, "k"))->registers;
        cr_expect(registers == cases[i].registers, "%s%u", cases[i].promise, registers);
    }
    emu_close(emu);
}

/* 14 warps lie in four parts of a multiprocessor, 4 of them in one part, which has 16384
 * registers. */
Test(emu_barrier, promised_warps_in_parts)
{
    enum { VALUES = 80 };
    static char text[8000];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   PTX_HEADER ".visible .entry k(.param .u64 p)\n"
                                              ".maxntid 448, 1, 1\n.minnctapersm 1\n{\n"
                                              ".reg .b64 %%l<%d>;\nld.param.u64 %%l0, [p];\n",
                                   VALUES + 1);
    for (int i = 0; i < 2 * VALUES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 i < VALUES ? "ld.u64 %%l%d, [%%l0];\n" : "st.u64 [%%l0], %%l%d;\n",
                                 1 + i % VALUES);
    snprintf(text + used, sizeof text - used, "ret;\n}\n");
    struct emu *emu = open_emu();
    unsigned registers = emu_kernel_info(load_kernel(emu, text, "k"))->registers;
    cr_expect(registers == 128, "%u", registers);
    emu_close(emu);
}

/* Every block and thread gets its own indices. */
Test(emu_barrier, indices_of_blocks_and_threads)
{
    static const char text[] = PTX_HEADER
        ".visible .entry k(.param .u64 p_out) {\n.reg .b32 %r<32>;\n.reg .b64 %l<8>;\n"
        "ld.param.u64 %l0, [p_out];\n"
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\n"
        "mov.u32 %r3, %ntid.x;\nmov.u32 %r4, %ntid.y;\nmov.u32 %r5, %ntid.z;\n"
        "mov.u32 %r6, %ctaid.x;\nmov.u32 %r7, %ctaid.y;\nmov.u32 %r8, %ctaid.z;\n"
        "mov.u32 %r9, %nctaid.x;\nmov.u32 %r10, %nctaid.y;\nmov.u32 %r11, %nctaid.z;\n"
        "mad.lo.u32 %r12, %r8, %r10, %r7;\nmad.lo.u32 %r12, %r12, %r9, %r6;\n"
        "mul.lo.u32 %r13, %r3, %r4;\nmul.lo.u32 %r13, %r13, %r5;\nmul.lo.u32 %r12, %r12, %r13;\n"
        "mad.lo.u32 %r14, %r2, %r4, %r1;\nmad.lo.u32 %r14, %r14, %r3, %r0;\n"
        "mov.u32 %r16, %laneid;\nmov.u32 %r17, %warpid;\nmad.lo.u32 %r17, %r17, 32, %r16;\n"
        "sub.u32 %r17, %r17, %r14;\n" /* 0: lanes and warps are counted like threads */
        "add.u32 %r12, %r12, %r14;\nmul.wide.u32 %l1, %r12, 4;\nadd.u64 %l0, %l0, %l1;\n"
        "add.u32 %r15, %r12, 1;\nadd.u32 %r15, %r15, %r17;\natom.global.add.u32 %r18, [%l0], "
        "%r15;\n"
        "ret;\n}\n";
    enum { ALL = 3 * 4 * 5 * 6 * 2 * 7 };
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr out = device_copy(emu, NULL, ALL * 4);
    cr_assert(!emu_launch(emu, kernel, (struct emu_dim){3, 4, 5}, (struct emu_dim){6, 2, 7}, 0,
                          (void *[]){&out}, false),
              "%s", emu_message(emu));
    static uint32_t got[ALL];
    cr_assert(!emu_read(emu, got, out, sizeof got));
    for (unsigned i = 0; i < ALL; i++) cr_assert(got[i] == i + 1, "thread %u wrote %u", i, got[i]);
    emu_close(emu);
}

/* ---- host threads ---------------------------------------------------------------------------- */

/* A block scan of 128 elements in shared memory, for many blocks. */
static const char scan[] = BARRIER_KERNEL(
    ".shared .align 4 .b8 s[512];\n.loc 1 1 0\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 3;\n"
    "and.b32 %r1, %r1, 511;\nmov.u32 %r2, s;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r2, %r3;\n"
    "cvt.rn.f32.u32 %f0, %id;\n.loc 1 2 0\nst.shared.f32 [%r3], %f0;\nbar.sync 0;\nmov.u32 %r4, "
    "1;\n"
    ".loc 1 3 0\nLOOP: setp.lt.u32 %p0, %r0, %r4;\nshl.b32 %r5, %r4, 2;\nsub.u32 %r6, %r3, %r5;\n"
    "mov.f32 %f1, 0f00000000;\n@!%p0 ld.shared.f32 %f1, [%r6];\nbar.sync 0;\n"
    ".loc 1 4 0\nld.shared.f32 %f0, [%r3];\nadd.f32 %f0, %f0, %f1;\nst.shared.f32 [%r3], %f0;\n"
    "bar.sync 0;\nshl.b32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 128;\n@%p1 bra LOOP;\n"
    ".loc 1 5 0\nadd.u32 %r7, %r2, %r1;\nld.shared.f32 %f2, [%r7];\nst.global.f32 [%out], %f0;\n"
    "ret;\n");

Test(emu_barrier, host_threads_change_nothing, .timeout = 20)
{
    enum { BLOCKS = 200, ALL = BLOCKS * BLOCK };
    static uint32_t out[3][ALL];
    static const unsigned threads[] = {1, 2, 7};
    struct emu_counts total[3];
    struct emu_counts lines[3][8];
    size_t line_count[3];
    for (int i = 0; i < 3; i++) {
        struct emu *emu = open_emu_with(
            &(struct emu_config){.threads = threads[i], .memory = 16 << 20, .counters = true});
        cr_assert(!run_blocks(emu, scan, out[i], BLOCKS), "%s", emu_message(emu));
        const struct emu_launch_record *r = emu_record(emu, 0);
        total[i] = r->total;
        line_count[i] = r->line_count;
        cr_assert(r->line_count <= 8 && r->line_count > 0);
        for (size_t n = 0; n < r->line_count; n++) lines[i][n] = r->lines[n].counts;
        emu_close(emu);
    }
    cr_expect(total[0].barriers == BLOCKS * 15 * 4, "%llu barriers",
              (unsigned long long)total[0].barriers);
    for (int i = 1; i < 3; i++) {
        cr_expect(!memcmp(out[0], out[i], sizeof out[0]), "%u threads: other results", threads[i]);
        cr_expect(!memcmp(&total[0], &total[i], sizeof total[0]), "%u threads: other counts",
                  threads[i]);
        cr_expect(line_count[0] == line_count[i] &&
                      !memcmp(lines[0], lines[i], line_count[0] * sizeof *lines[0]),
                  "%u threads: other counts in a line", threads[i]);
    }
    /* The results are also right: the last element of a block is the sum of its 128 numbers. */
    float last;
    memcpy(&last, &out[0][BLOCK - 1], sizeof last);
    cr_expect(last == 127 * 64, "sum %g", last);
}

/* Blocks add to one word: the sum is right with any number of host threads. */
Test(emu_barrier, atomics_over_host_threads, .timeout = 20)
{
    enum { BLOCKS = 100 };
    for (unsigned threads = 1; threads <= 7; threads += 3) {
        struct emu *emu =
            open_emu_with(&(struct emu_config){.threads = threads, .memory = 16 << 20});
        struct emu_kernel *kernel = load_kernel(
            emu,
            PTX_KERNEL("k",
                       "ld.param.u64 %l0, [p_out];\nadd.u32 %r1, %id, 1;\n"
                       "atom.global.add.u32 %r0, [%l0], %r1;\nred.global.max.u32 [%l0+4], %r1;\n"
                       "atom.global.add.f32 %f0, [%l0+8], 0f3F800000;\n"
                       "atom.global.add.u64 %l1, [%l0+16], 4294967297;\nret;\n"),
            "k");
        emu_addr out = device_copy(emu, NULL, 24);
        cr_assert(!launch(emu, kernel, BLOCKS, BLOCK, 0, 2, (uint64_t[]){out, out}), "%s",
                  emu_message(emu));
        struct {
            uint32_t sum, max;
            float count;
            uint32_t pad;
            uint64_t wide;
        } got;
        cr_assert(!emu_read(emu, &got, out, sizeof got));
        uint64_t n = BLOCKS * BLOCK;
        cr_expect(got.sum == n * (n + 1) / 2 && got.max == n && got.count == n &&
                      got.wide == n * 4294967297,
                  "%u threads: %u, %u, %g, %llu", threads, got.sum, got.max, got.count,
                  (unsigned long long)got.wide);
        emu_close(emu);
    }
}

/* A fault in one block ends the grid, on any host thread, and is reported once. */
Test(emu_barrier, a_fault_ends_the_grid, .timeout = 20)
{
    static const char text[] = BARRIER_KERNEL(
        "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p0, %r1, 77;\n@%p0 bra DONE;\nmov.u64 %l0, 0;\n"
        ".loc 1 9 0\nst.global.u32 [%l0], 1;\nDONE: st.global.u32 [%out], 1;\nret;\n");
    for (unsigned threads = 1; threads <= 7; threads += 3) {
        struct emu *emu =
            open_emu_with(&(struct emu_config){.threads = threads, .memory = 16 << 20});
        int e = run_blocks(emu, text, NULL, 200);
        cr_expect(e == EMU_ILLEGAL_ADDRESS && strstr(emu_message(emu), "block (77,0,0)"),
                  "%u threads: error %d: %s", threads, e, emu_message(emu));
        emu_close(emu);
    }
}

Test(emu_barrier, trap_stops_the_kernel, .timeout = 20)
{
    static const char text[] =
        BARRIER_KERNEL("mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p0, %r1, 3;\n@%p0 bra DONE;\n.loc 1 9 "
                       "0\ntrap;\nDONE: ret;\n");
    struct emu *emu = open_emu();
    int e = run_blocks(emu, text, NULL, 1);
    cr_expect(e == EMU_LAUNCH_FAILURE && strstr(emu_message(emu), "barrier.cu:9") &&
                  strstr(emu_message(emu), "(3,0,0)"),
              "error %d: %s", e, emu_message(emu));
    emu_close(emu);
}

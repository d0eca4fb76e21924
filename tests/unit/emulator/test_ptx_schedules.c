/*
 * test_ptx_schedules.c — grids on several host threads; random programs of jumps.
 */
#define _GNU_SOURCE
#include "common/tools/emu/machine/device.h"
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- grids on several host threads ----------------------------------------------------------- */

/* They wait for the next launch, and do not exist after fork() in the child. */

enum { BLOCK = 32, MOST = 64 * BLOCK };

static struct emu *open_with_threads(unsigned threads)
{
    struct emu_config config = {.threads = threads, .memory = 1 << 20};
    return open_emu_with(&config);
}

/* out = 2 in + 1, by this many threads */
static void expect_right(struct emu *emu, unsigned threads)
{
    static uint32_t in[MOST], out[MOST];
    char *ptx = ptx_kernel("ld.global.u32 %%r1, [%%in];\nadd.u32 %%r1, %%r1, %%r1;\n"
                           "add.u32 %%r1, %%r1, 1;\nst.global.u32 [%%out], %%r1;\nret;");
    for (unsigned i = 0; i < threads; i++) in[i] = i ^ threads;
    run_kernel(emu, ptx, threads, BLOCK, out, in);
    for (unsigned i = 0; i < threads; i++)
        cr_assert(out[i] == 2 * in[i] + 1, "thread %u of %u: %u", i, threads, out[i]);
    free(ptx);
}

Test(emu_pool, launch_after_launch, .timeout = 60)
{
    struct emu *emu = open_with_threads(5);
    for (unsigned i = 0; i < 200; i++) expect_right(emu, (1 + i % 64) * BLOCK);
    emu_close(emu);
}

static unsigned threads_of(struct emu_config config)
{
    config.memory = 1 << 20;
    struct emu *emu = open_emu_with(&config);
    unsigned threads = emu->threads;
    emu_close(emu);
    return threads;
}

/* EMU_THREADS and EMU_MEMORY are not divided. */
Test(emu_pool, processes_share_the_cores)
{
    unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    cr_assert_eq(threads_of((struct emu_config){0}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = 1}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores + 1}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores, .threads = 3}), 3);
}

/* Host threads that have never had work, and a device that is closed right after it was opened. */
Test(emu_pool, idle_threads_end, .timeout = 60)
{
    for (unsigned threads = 1; threads < 6; threads++) {
        struct emu *emu = open_with_threads(threads);
        expect_right(emu, threads * BLOCK);
        emu_close(emu);
    }
}

Test(emu_pool, a_child_process_runs_grids_alone, .timeout = 60)
{
    int status;
    struct emu *emu = open_with_threads(4);
    expect_right(emu, MOST);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        expect_right(emu, MOST);
        emu_close(emu);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_right(emu, MOST);
    emu_close(emu);
}

/* ---- random programs of jumps, most of which no compiler would write ------------------------- */

/*
 * A program consists of a few basic blocks. Each computes, uses up fuel and jumps to one of two
 * blocks, chosen by what the lane has computed. A C loop runs the program for one lane at a time,
 * the emulator for the whole warp.
 */

enum { RANDOM_PROGRAMS = 400, MAX_BLOCKS = 10, TWO_WARPS = 64, FUEL = 60 };

struct jump_block {
    uint32_t factor, addend, mask; /* x = x * factor + addend; jump to `then` if !(x & mask) */
    unsigned then, otherwise;      /* block numbers; the program's number of blocks means the end */
};

struct jumps {
    unsigned blocks;
    struct jump_block block[MAX_BLOCKS];
};

static void make_program(struct jumps *p, uint64_t *seed)
{
    p->blocks = 2 + (unsigned)(next_random(seed) % (MAX_BLOCKS - 1));
    for (unsigned b = 0; b < p->blocks; b++) {
        uint64_t random = next_random(seed);
        p->block[b] = (struct jump_block){
            .factor = (uint32_t)random | 1,
            .addend = (uint32_t)(random >> 32),
            .mask = 0x10000u << random % 3 * 4, /* about one half of the lanes each way */
            .then = (unsigned)(next_random(seed) % (p->blocks + 1)),
            .otherwise = (unsigned)(next_random(seed) % (p->blocks + 1)),
        };
    }
}

static uint32_t run_lane(const struct jumps *p, uint32_t x)
{
    unsigned at = 0;
    for (int fuel = FUEL; fuel > 0 && at < p->blocks; fuel--) {
        const struct jump_block *b = &p->block[at];
        x = x * b->factor + b->addend;
        at = x & b->mask ? b->otherwise : b->then;
    }
    return x;
}

/* The blocks in order, so that most jumps go to the next one or over a few. At the end all lanes of
 * the warp must converge: the vote counts them. */
static char *program_text(const struct jumps *p)
{
    char *body;
    size_t size;
    FILE *f = open_memstream(&body, &size);
    cr_assert(f);
    fprintf(f, "ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, %d;\n", FUEL);
    for (unsigned b = 0; b < p->blocks; b++) {
        const struct jump_block *k = &p->block[b];
        fprintf(f,
                "B%u: setp.eq.u32 %%p0, %%r1, 0;\n@%%p0 bra B%u;\nsub.u32 %%r1, %%r1, 1;\n"
                "mad.lo.u32 %%r0, %%r0, %u, %u;\nand.b32 %%r2, %%r0, %u;\n"
                "setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra B%u;\nbra B%u;\n",
                b, p->blocks, k->factor, k->addend, k->mask, k->then, k->otherwise);
    }
    fprintf(f,
            "B%u: setp.eq.u32 %%p2, %%r2, %%r2;\nvote.sync.ballot.b32 %%r3, %%p2, -1;\n"
            "not.b32 %%r3, %%r3;\nadd.u32 %%r0, %%r0, %%r3;\n" /* adds 0 if all lanes vote */
            "st.global.u32 [%%out], %%r0;\nret;\n",
            p->blocks);
    fclose(f);
    char *text = ptx_kernel("%s", body);
    free(body);
    return text;
}

Test(emu_divergence, random_programs, .timeout = 60)
{
    struct emu *emu = open_emu();
    uint64_t seed = 2024;
    for (int n = 0; n < RANDOM_PROGRAMS; n++) {
        struct jumps program;
        make_program(&program, &seed);
        uint32_t in[TWO_WARPS], out[TWO_WARPS];
        for (unsigned t = 0; t < TWO_WARPS; t++) in[t] = (uint32_t)next_random(&seed);
        char *text = program_text(&program);
        run_kernel(emu, text, TWO_WARPS, TWO_WARPS, out, in);
        for (unsigned t = 0; t < TWO_WARPS; t++) {
            uint32_t want = run_lane(&program, in[t]);
            if (out[t] == want) continue;
            cr_expect(false, "program %d, thread %u: got 0x%x, want 0x%x\n%s", n, t, out[t], want,
                      text);
            break;
        }
        free(text);
    }
    emu_close(emu);
}

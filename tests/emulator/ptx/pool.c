/* pool.c — grids on several host threads, which wait for the next launch and do not exist after
 * fork() in the child. */
#define _POSIX_C_SOURCE 200809L
#include "common/emu/machine/device.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/*
 * test_cooperative_part.c — cooperative groups that synchronise a grid, a block or a tile; from the
 * PTX of three architectures.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "tests/fixtures/fixtures.h"

#include "common/harness/run/runs.h"
#include "common/emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The model decides which PTX of the fat binary runs: compute_75, compute_90 or compute_100. */
static const char *const models[] = {"t4", "h200", "b200"};
enum { MODELS = sizeof models / sizeof *models };

/* A device of that model, if the process has no device yet: each test runs in its own. */
static void use_model(const char *model) { setenv("EMU_GPU", model, 1); }

static void *device(size_t bytes)
{
    void *memory;
    cr_assert(cudaMalloc(&memory, bytes) == cudaSuccess, "%s", emu_message(emu_runtime()));
    return memory;
}

static void read_back(void *host, const void *memory, size_t bytes)
{
    cr_assert(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
}

static void check_grid_scan(int blocks, int threads)
{
    enum { N = 3000 };
    static int in[N], got[N];
    int *out = device(sizeof in), *scratch = device(sizeof in), *from = device(sizeof in);
    for (int i = 0; i < N; i++) in[i] = i * 7 % 11;
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    cr_assert(launch_grid_scan(out, scratch, from, N, blocks, threads) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
    read_back(got, out, sizeof got);
    for (int i = 0, sum = 0; i < N; i++) {
        sum += in[i];
        cr_assert(got[i] == sum, "%d blocks: sum %d is %d, want %d", blocks, i, got[i], sum);
    }
}

#define TEST_ON_MODELS(name, check)                                                                \
    Test(cooperative, name##_compute_75_slow, .timeout = 60) { use_model(models[0]), check; }      \
    Test(cooperative, name##_compute_90, .timeout = 60) { use_model(models[1]), check; }           \
    Test(cooperative, name##_compute_100_slow, .timeout = 60) { use_model(models[2]), check; }

static void grid_scans(void)
{
    check_grid_scan(1, 64);
    check_grid_scan(7, 32);
    check_grid_scan(40, 100);
}
TEST_ON_MODELS(a_grid_sync_separates_sweeps, grid_scans())

static void rounds(void)
{
    enum { BLOCKS = 30, ROUNDS = 5 };
    int got[3 * BLOCKS], *out = device(sizeof got);
    cr_assert(launch_grid_sync(out, BLOCKS, 64, ROUNDS, 1) == cudaSuccess);
    read_back(got, out, sizeof got);
    for (int b = 0; b < BLOCKS; b++)
        cr_expect(got[2 * BLOCKS + b] == (b + BLOCKS - ROUNDS) % BLOCKS, "block %d: %d", b,
                  got[2 * BLOCKS + b]);
}
TEST_ON_MODELS(arrive_and_wait, rounds())

static void tiles(void)
{
    enum { THREADS = 256, TILE = 64 };
    int in[THREADS], got[THREADS], *from = device(sizeof in), *out = device(sizeof got);
    for (int i = 0; i < THREADS; i++) in[i] = i * i % 101;
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    cr_assert(launch_large_tiles(out, from, THREADS) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
    read_back(got, out, sizeof got);
    for (int i = 0; i < THREADS; i++) {
        int sum = 0;
        for (int k = 0; k < TILE; k++) sum += in[i / TILE * TILE + k];
        cr_expect(got[i] == sum, "thread %d: %d, want %d", i, got[i], sum);
    }
}
TEST_ON_MODELS(tiles_of_two_warps, tiles())

static void halves(void)
{
    enum { THREADS = 100 };
    int got[THREADS], *out = device(sizeof got);
    cr_assert(launch_split_barrier(out, THREADS) == cudaSuccess);
    read_back(got, out, sizeof got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == 3 * (THREADS - 1 - t) + t);
}
TEST_ON_MODELS(a_barrier_in_two_halves, halves())

Test(cooperative, the_grid_knows_itself)
{
    enum { BLOCKS = 6, THREADS = 32, ALL = BLOCKS * THREADS };
    struct grid_view got[ALL], *out = device(sizeof got);
    dim3 blocks = {3, 2, 1}, threads = {8, 4, 1};
    for (int is_cooperative = 0; is_cooperative < 2; is_cooperative++) {
        cr_assert(launch_grid_view(out, blocks, threads, is_cooperative) == cudaSuccess);
        read_back(got, out, sizeof got);
        for (unsigned i = 0; i < ALL; i++)
            cr_expect(got[i].size == ALL && got[i].thread_rank == i &&
                          got[i].block_rank == i / THREADS && got[i].blocks == BLOCKS &&
                          got[i].is_valid == (unsigned)is_cooperative,
                      "thread %u, cooperative %d", i, is_cooperative);
    }
}

/* As on a GPU, the kernel stops itself: without a cooperative launch grid.sync() has no counter. */
Test(cooperative, a_grid_sync_in_an_ordinary_launch_is_a_fault)
{
    int *out = device(1000);
    cr_assert(launch_grid_sync(out, 4, 32, 1, 0) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    cr_expect(strstr(emu_message(emu_runtime()), "trap"), "%s", emu_message(emu_runtime()));
}

/* With _CG_DEBUG it stops even without a sync: this_grid() waits for all blocks. If it cannot, an
 * assertion fails in place of a trap. */
Test(cooperative, cg_debug_checks_this_grid)
{
    struct counters counters;
    cr_assert(counters_begin());
    cr_expect(launch_checked_this_grid(4, 1) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaSuccess);
    counters_end(&counters);
    cr_expect(counters.total.global_atom.requests == 4, "each block counts itself");
    counters_free(&counters);
    cr_expect(launch_checked_this_grid(4, 0) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaErrorAssert);
}

Test(cooperative, a_grid_that_is_not_resident_at_once_is_refused)
{
    int *out = device(1000);
    cr_expect(launch_grid_sync(out, 100000, 64, 1, 1) == cudaErrorCooperativeLaunchTooLarge);
}

/* The memory that the launch needs is not part of the program's, and is freed. */
Test(cooperative, the_workspace_is_given_back)
{
    size_t before, after, total;
    int *out = device(1000);
    cr_assert(launch_grid_sync(out, 4, 32, 1, 1) == cudaSuccess); /* loads the module, too */
    cudaMemGetInfo(&before, &total);
    cr_assert(launch_grid_sync(out, 4, 32, 1, 1) == cudaSuccess);
    cudaMemGetInfo(&after, &total);
    cr_expect(before == after);
}

Test(cooperative, clocks_count_instructions_and_nanoseconds)
{
    enum { FEW = 100, MANY = 10100 };
    unsigned long long few[3], many[3], again[3], *out = device(sizeof few);
    cr_assert(launch_clocks(out, FEW) == cudaSuccess);
    read_back(few, out, sizeof few);
    cr_assert(launch_clocks(out, MANY) == cudaSuccess);
    read_back(many, out, sizeof many);
    cr_assert(launch_clocks(out, MANY) == cudaSuccess);
    read_back(again, out, sizeof again);
    /* A round of the loop has a few instructions. */
    unsigned long long more = many[0] - few[0], rounds_more = MANY - FEW;
    cr_expect(more >= 3 * rounds_more && more < 20 * rounds_more, "%llu, %llu", few[0], many[0]);
    cr_expect(again[0] == many[0], "it repeats exactly");
    cr_expect(few[1] > 0 && few[1] < 10000000000, "%llu ns", few[1]);
    cr_expect(many[2] >= many[0] && many[2] < many[0] + 20, "clock() and clock64() agree");
}

/*
 * test_programs.c — some of the programs in tests/cases/programs, run by the emulator. Each
 * checks its own results; the test checks its exit code. `make test-nightly` runs all of them in
 * every way.
 */
#include "tests/support/command.h"

#include <string.h>

TestSuite(programs, .init = command_init, .fini = command_fini);

/* Runs a program of a file; returns its exit code. */
static int run_program(const char *gpu, const char *file, const char *program)
{
    return run("$emu --gpu %s --log-file /dev/null " ORDINARY_BUILD
               "/tests/cases/programs/%s %s 2>&1",
               gpu, file, program);
}

/* How it was built, its file, the GPU, and its name: t4 takes compute_75, h200 compute_90, b200
 * compute_100. The Makefile reads the files here (programs.mk). */
static const char *const programs[][3] = {
    {"O0/threads", "h200", "atomics_float"},
    {"O0/threads", "t4", "cg_groups"},
    {"O3/cooperative", "t4", "async_copies"},
    {"O3/cooperative", "b200", "async_copies"},
    {"O3/cooperative", "b200", "clusters"},
    {"rdc/cooperative", "t4", "grids"},
    {"O3/cooperative", "b200", "grids"},
    {"G/integer_types", "t4", "integer_types"},
    {"O3/cub_block", "h200", "cub_block"},
    {"O3/textures", "b200", "texture_turn"},
    {"O3/textures", "b200", "tensor_maps"},
    {"O3/blas", "h200", "blas_vectors"},
    {"O3/blas", "t4", "blas_matrices"},
    {"O3/random_numbers", "h200", "random_numbers"},
    {"O3/network", "b200", "network"},
    {"O3/matrices", "h200", "wmma_multiply"},
    {"O3/driver", "h200", "driver_launch"},
    {"O3/driver", "b200", "driver_memory"},
    {"O3/driver", "h200", "driver_errors"},
    {"O3/driver", "t4", "driver_mixed"},
    {"G/dynamic", "b200", "dynamic_streams"},
    {"G/dynamic", "t4", "graph_conditions"},
};

static void expect_right(const char *const row[3])
{
    int code = run_program(row[1], row[0], row[2]);
    cr_expect(code == 0, "%s of %s as a %s ended with %d:\n%s", row[2], row[0], row[1], code,
              output);
}

Test(programs, are_right_slow)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) expect_right(programs[i]);
}

/* Integer arithmetic as nvcc composes it of instructions: the host's compiler has the results. */
Test(programs, integers_of_all_types)
{
    expect_right((const char *[]){"O3/integer_types", "h200", "integer_types"});
}

Test(programs, threads_that_wait_for_each_other)
{
    static const char *const names[] = {"async_copies", "clusters", "grids"};
    for (int i = 0; i < 3; i++)
        expect_right((const char *[]){"O3/cooperative", "h200", names[i]});
    run_program("t4", "O3/cooperative", "clusters");
    expect("clusters of 2 blocks on a GPU of compute capability 7.5; they need 9.0\nskipped");
}

/* ---- programs that fail ---------------------------------------------------------------------- */

/* The error that CUDA returns to a program that fails, and the message that the emulator prints. */
static const struct {
    const char *way, *told, *said;
} failures[] = {
    {"assert", "launch: cudaSuccess; then: cudaErrorAssert",
     "block: [0,0,0], thread: [3,0,0] Assertion `value[threadIdx.x] == 0 && threadIdx.x < 3` "
     "failed."},
    {"trap", "launch: cudaSuccess; then: cudaErrorLaunchFailure", "stopped itself with a trap"},
    {"past-the-end", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "is out of bounds"},
    {"null-pointer", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "global address 0x0 "},
    {"misaligned", "launch: cudaSuccess; then: cudaErrorMisalignedAddress", "is not a multiple of"},
    {"past-shared", "launch: cudaSuccess; then: cudaErrorIllegalAddress",
     "of shared memory a block"},
    {"host-pointer", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "is out of bounds"},
    {"endless-recursion", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "stack overflow"},
    {"grid-sync", "launch: cudaSuccess; then: cudaErrorLaunchFailure",
     "stopped itself with a trap"},
    {"too-many-threads", "launch: cudaErrorInvalidValue; then: cudaSuccess", ""},
    {"too-much-shared", "launch: cudaErrorInvalidValue; then: cudaSuccess",
     "the limit of this GPU is 232448 bytes for this kernel"},
    {"no-threads", "launch: cudaErrorInvalidValue; then: cudaSuccess", ""},
};

Test(programs, failures_are_told)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        int code = run_program("h200", "O3/wrong", failures[i].way);
        cr_expect(code == 1 && strstr(output, failures[i].told) && strstr(output, failures[i].said),
                  "%s: expected exit code 1, \"%s\" and \"%s\"; got %d and\n%s", failures[i].way,
                  failures[i].told, failures[i].said, code, output);
    }
}

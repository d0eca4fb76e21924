/*
 * test_programs.c — some of the programs in tests/emulator/programs, run by the emulator. Each
 * checks its own results; the test checks its exit code. `make test-nightly` runs all of them in
 * every way.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/fixtures/programs/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define FOLDER ORDINARY_BUILD "/tests/emulator/programs/"

enum { OUTPUT_SIZE = 1 << 14 };

/* Runs a program; returns its exit code, and what it and the emulator printed. */
static int run(const char *gpu, const char *program, const char *argument, char *output)
{
    char command[256];
    snprintf(command, sizeof command, EMU " --gpu %s --log-file /dev/null " FOLDER "%s %s 2>&1",
             gpu, program, argument);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    output[fread(output, 1, OUTPUT_SIZE - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How it was built, its name, and the GPU: t4 takes compute_75, h200 compute_90, b200 compute_100.
 * The Makefile reads the names here (programs.mk). */
static const char *const programs[][2] = {
    {"G/integer_types", "t4"},
    {"O3/matrix_multiply", "h200"},
    {"G/votes", "t4"},
    {"O0/atomics", "h200"},
    {"O3/occupancy", "h200"},
    {"G/streams", "h200"},
    {"O3/cub_block", "h200"},
    {"O3/texture_turn", "b200"},
    {"O3/blas_vectors", "h200"},
    {"O3/blas_matrices", "t4"},
    {"O3/random_numbers", "h200"},
    {"O3/network", "b200"},
    {"O3/wmma_multiply", "h200"},
    {"O3/mma_multiply", "t4"},
    {"O3/tensor_maps", "b200"},
    {"O3/driver_launch", "h200"},
    {"O3/driver_memory", "b200"},
    {"O3/driver_errors", "h200"},
    {"rdc/driver_mixed", "t4"},
    {"rdc/dynamic_quicksort", "t4"},
    {"G/dynamic_streams", "b200"},
    {"O0/graph_conditions", "t4"},
};

Test(programs, are_right_slow)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char output[OUTPUT_SIZE];
        int code = run(programs[i][1], programs[i][0], "", output);
        cr_expect(code == 0, "%s as a %s ended with %d:\n%s", programs[i][0], programs[i][1], code,
                  output);
    }
}

/* Integer arithmetic as nvcc composes it of instructions: the host's compiler has the results. */
Test(programs, integers_of_all_types)
{
    char output[OUTPUT_SIZE];
    int code = run("h200", "O3/integer_types", "", output);
    cr_expect(code == 0, "it ended with %d:\n%s", code, output);
}

/* ---- programs that fail ---------------------------------------------------------------------- */

/* The error that CUDA returns to a program that fails, and the message that the emulator prints. */
static const struct {
    const char *way, *told, *said;
} failures[] = {
    {"assert", "launch: cudaSuccess; then: cudaErrorAssert", "threadIdx.x < 3` failed."},
    {"trap", "launch: cudaSuccess; then: cudaErrorLaunchFailure", "stopped itself with a trap"},
    {"past-the-end", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "is out of bounds"},
    {"null-pointer", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "global address 0x0 "},
    {"misaligned", "launch: cudaSuccess; then: cudaErrorMisalignedAddress", "is not a multiple of"},
    {"past-shared", "launch: cudaSuccess; then: cudaErrorIllegalAddress",
     "of shared memory a block"},
    {"host-pointer", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "is out of bounds"},
    {"endless-recursion", "launch: cudaSuccess; then: cudaErrorIllegalAddress", "stack overflow"},
    {"too-many-threads", "launch: cudaErrorInvalidValue; then: cudaSuccess", ""},
    {"too-much-shared", "launch: cudaErrorInvalidValue; then: cudaSuccess",
     "the limit of this GPU is 232448 bytes for this kernel"},
    {"no-threads", "launch: cudaErrorInvalidValue; then: cudaSuccess", ""},
};

Test(programs, failures_are_told)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        char output[OUTPUT_SIZE];
        int code = run("h200", "O3/wrong", failures[i].way, output);
        cr_expect(code == 1 && strstr(output, failures[i].told) && strstr(output, failures[i].said),
                  "%s: expected exit code 1, \"%s\" and \"%s\"; got %d and\n%s", failures[i].way,
                  failures[i].told, failures[i].said, code, output);
    }
}

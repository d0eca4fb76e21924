/*
 * test_programs.c — some of the programs in tests/cases/programs, run by the emulator. Each
 * checks its own results; the test checks its exit code. `make test-nightly` runs all of them in
 * every way. And programs that use the libraries which take the place of NVIDIA's.
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
    {"G/arithmetic", "t4", "integer_types"},
    {"O3/cub_block", "h200", "cub_block"},
    {"O3/textures", "b200", "texture_turn"},
    {"O3/textures", "b200", "tensor_maps"},
    {"O3/blas", "h200", "blas_vectors"},
    {"O3/blas", "t4", "blas_matrices"},
    {"O3/random_numbers", "h200", "random_numbers"},
    {"O3/network", "b200", "network"},
    {"O3/arithmetic", "h200", "wmma_multiply"},
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
    expect_right((const char *[]){"O3/arithmetic", "h200", "integer_types"});
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
    {"too-much-shared", "launch: cudaErrorInvalidValue; then: cudaSuccess",
     "the limit of this GPU is 232448 bytes for this kernel"},
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

/* ---- libraries (common/tools/emu/libs) ------------------------------------------------------- */

/* What they say and return when they are used wrongly, what the checkers find in programs that use
 * them, and that no program finds them but by emu. What they compute is tested by
 * programs/blas.cu. */

TestSuite(libraries, .init = command_init, .fini = command_fini, .timeout = 120);

enum { FOUND = 9 };

#define O3 ORDINARY_BUILD "/tests/cases/programs/O3"

Test(libraries, wrong_arguments_and_what_is_not_offered_are_named)
{
    RUNS({0, QUIET "$p/blas arguments",
          {"handles 1 1 1\nsizes 7 7 7\npointers 7 7 0\nscalars 7\nvalues 7 7\ncopies 7 7\n"
           "still 0\nend: cudaSuccess\n",
           "emu: cublasSgemm: m, n or k is negative\n",
           "emu: cublasSgemm: lda is less than the number of rows of A, which is m, or k if A is "
           "transposed\n",
           "emu: cublasSgemv: an increment is 0\n",
           "emu: cublasSgemm: a matrix, a vector or a scalar is NULL\n",
           "emu: cublasSgemm: a scalar is in the device's memory, and the pointer mode is that of "
           "the host; see cublasSetPointerMode\n",
           "emu: cublasSetMatrix: a leading dimension is less than the number of rows\n"}},
         {0, QUIET "$p/blas mersenne",
          {"generator 103\nrefused 103\nend: cudaSuccess\n",
           "emu: a generator of the type MT19937 is not supported (called by ",
           "emu: curandDestroyDistribution is not supported (called by "}},
         {0, QUIET "$p/blas refused",
          {"refused 15\nrefused 15\ntypes 15\ncaptured 15\n",
           "emu: cublasStrsm is not supported (called by ",
           "in float and double (gemm also in half and bfloat16), by cublas_v2.h; use these, write "
           "a kernel, or run the program on a GPU\n",
           "emu: cublasGemmEx is not supported", "emu: cublasSgemm is not supported",
           "the emulator's libraries are not captured into graphs; call it outside of the capture",
           "the capture ends: cudaSuccess\nstill 0\nend: cudaSuccess\n"}});
    cr_assert(strstr(strstr(output, "cublasStrsm") + 1, "emu: cublasStrsm") == NULL, "%s", output);
}

/* Every function of NVIDIA's libraries is there, offered or refused: programs load. */
Test(libraries, no_name_is_missing)
{
    if (run("test -e $(common/build/toolkit.sh)/lib64/libcublas.so.13") != 0)
        cr_skip("the toolkit has no cuBLAS to compare with");
    expect_status(
        0, "names() { nm -D --defined-only $1 | sed -n 's/.* T \\([^@]*\\).*/\\1/p' | sort; }\n"
           "for l in libcublas.so.13 libcurand.so.10; do\n"
           "    names $(common/build/toolkit.sh)/lib64/$l >$t/nvidias\n"
           "    names ${emu%%/*}/libraries/lib/$l | comm -13 - $t/nvidias\n"
           "    wc -l <$t/nvidias\n"
           "done");
    cr_assert(strstr(output, "cu") == NULL && strlen(output) > 4, "missing: %s", output);
}

/* ---- the checkers ---------------------------------------------------------------------------- */

#define CHECK(tool) "$emu --tool " tool " --error-exitcode 9 "

Test(libraries, right_programs_have_no_findings_slow)
{
    RUNS({0, CHECK("all") "$p/blas ordered", {"ERROR SUMMARY: 0 errors", "ordered 0 294393\n"}},
         {0, CHECK("all") "$p/blas triangle", {"ERROR SUMMARY: 0 errors", "triangle 0\n"}},
         {0, CHECK("all") "$p/blas unit", {"ERROR SUMMARY: 0 errors", "unit 0\n"}},
         {0, CHECK("all") O3 "/network", {"ERROR SUMMARY: 0 errors", ": right\n"}});
}

/* Without memcheck a fault is one line. */
Test(libraries, mistakes_are_found)
{
    RUNS({FOUND, CHECK("racecheck") "$p/blas before",
          {"Race reported between Write access at fill(float*, int)",
           "and Read access of cublasSgemm", ", cublasSgemm in stream 13 reads it\n",
           "The library was called at\n"}},
         {FOUND, CHECK("racecheck") "$p/blas after",
          {"Race reported between Write access of cublasSgemm",
           "and Write access at fill(float*, int)", ": cublasSgemm in stream 13 wrote it, ",
           "Host Frame: multiply(int, float const*, float const*) in "}},
         {FOUND, CHECK("initcheck") "$p/blas unwritten",
          {"Host API uninitialized memory access of size 4096", "cublasSgemm reads from 0x",
           "4096 of its 4096 bytes have not been written", "It was called at\n"}},
         {FOUND, CHECK("initcheck") "$p/blas added",
          {"access of size 4096\n", "cublasSgemm reads from 0x",
           "The first is at offset 0 of row 0", "added 0\n"}},
         {FOUND, CHECK("initcheck") "$p/blas part",
          {"access of size 128\n", "cublasStrmv reads from 0x",
           "128 of its 128 bytes have not been written", "Host Frame: triangle(bool) in "}},
         {FOUND, CHECK("racecheck") "$p/blas random",
          {"Race reported between Write access of curandGenerateUniform\n",
           "and Read access of cublasSgemm [1 hazards]\n", "The library was called at\n",
           "host memory 104\nrandom 0\n"}},
         {FOUND, CHECK("memcheck") "$p/blas outside",
          {"outside 13\n", "cublasSgemm reads memory that is not there: 4356 bytes from ",
           "The call was made at\n", "end: cudaErrorIllegalAddress"}},
         {FOUND, CHECK("memcheck") "$p/blas host",
          {"host 13\n", "cublasSgemm reads memory that is not there: 4096 bytes from ",
           "is it a pointer to memory of the host?", "end: cudaErrorIllegalAddress"}},
         {0, QUIET "$p/blas outside",
          {"emu: cublasSgemm reads memory that is not there: ",
           "end: cudaErrorIllegalAddress"}});
}

/* ---- where they are -------------------------------------------------------------------------- */

/* The program has an RPATH to the toolkit's libraries, which come first without emu. A runtime that
 * is linked into the program is another one than the library works for. */
Test(libraries, emu_alone_finds_them)
{
    RUNS({0, QUIET "$p/blas",
          {"emu: this libcublas.so.13 is the emulator's, not NVIDIA's, and computes on the CPU: "}},
         {1, "ls ${emu%/*}/libcublas* ${emu%/*}/libcurand* 2>/dev/null | grep .", {NULL}},
         {1, "l=${emu%/*}/libraries/lib; LD_LIBRARY_PATH=$l LD_PRELOAD=$l/libcublas.so.13 $p/blas",
          {"and works on the emulator alone: run the program by emu", "created 1\n"}},
         {1, QUIET "$p/static-blas",
          {"emu: this libcublas.so.13 is the emulator's, not NVIDIA's, and works for "
           "libcudart.so.13 alone, and the program has a runtime linked into it: link it with nvcc "
           "-cudart shared\n", "created 1\n"}});
}

/* A toolkit without cuBLAS and cuRAND, as `make setup` fetches it: all of this one but these. */
static const char small_toolkit[] =
    "c=$(realpath $(common/build/toolkit.sh)); mkdir -p $t/cuda/bin $t/cuda/include\n"
    "for f in $c/* $c/bin/* $c/include/*; do\n"
    "    case $f in */bin|*/include|*/cublas*|*/curand*) ;; *) ln -s $f $t/cuda${f#$c};; esac\n"
    "done\n";

Test(libraries, nvcc_finds_them_slow)
{
    expect_status(0, "%s", small_toolkit);
    expect_status(0, "CUDA_HOME=$t/cuda $emu --log-file /dev/null run "
                     "tests/cases/fixtures/programs/blas.cu ordered 2>&1");
    expect("/libraries/include -L");
    expect("/libraries/lib -lcublas -lcurand\n");
    expect("ordered 0 294393\nend: cudaSuccess\n");
    expect_status(0, "PATH=$t/cuda/bin:$PATH $emu nvcc -arch=compute_90 -o $t/blas "
                     "tests/cases/fixtures/programs/blas.cu -lcublas -lcurand 2>&1");
    expect("emu: nvcc gets -isystem and -L with folders of ");
    expect_status(0, "$emu --log-file /dev/null $t/blas ordered 2>&1");
    expect("ordered 0 294393\nend: cudaSuccess\n");
}

/*
 * test_libraries.c — the libraries that take the place of NVIDIA's (common/tools/emu/libs): what
 * they say and return when they are used wrongly, what the checkers find in programs that use them,
 * and that no program finds them but by emu. What they compute is tested by programs/blas.cu.
 */
#include "tests/support/command.h"

#include <criterion/parameterized.h>
#include <string.h>

TestSuite(libraries, .init = command_init, .fini = command_fini, .timeout = 120);

enum { FOUND = 9 };

#define O3 ORDINARY_BUILD "/tests/cases/programs/O3"

Test(libraries, wrong_arguments_are_named)
{
    expect_status(0, "$emu --log-file /dev/null $p/blas arguments 2>&1");
    expect("handles 1 1 1\nsizes 7 7 7\npointers 7 7 0\nscalars 7\nvalues 7 7\ncopies 7 7\n"
           "still 0\nend: cudaSuccess\n");
    expect("emu: cublasSgemm: m, n or k is negative\n");
    expect("emu: cublasSgemm: lda is less than the number of rows of A, which is m, or k if A is "
           "transposed\n");
    expect("emu: cublasSgemv: an increment is 0\n");
    expect("emu: cublasSgemm: a matrix, a vector or a scalar is NULL\n");
    expect("emu: cublasSgemm: a scalar is in the device's memory, and the pointer mode is that of "
           "the host; see cublasSetPointerMode\n");
    expect("emu: cublasSetMatrix: a leading dimension is less than the number of rows\n");
}

Test(libraries, what_is_not_offered_is_refused_by_name)
{
    expect_status(0, "$emu --log-file /dev/null $p/blas refused 2>&1");
    expect("refused 15\nrefused 15\ntypes 15\ncaptured 15\n");
    expect("emu: cublasStrsm is not supported (called by ");
    expect("in float and double (gemm also in half and bfloat16), by cublas_v2.h; use these, write "
           "a kernel, or run the program on a GPU\n");
    expect("emu: cublasGemmEx is not supported");
    expect("emu: cublasSgemm is not supported");
    expect("the emulator's libraries are not captured into graphs; call it outside of the capture");
    expect("the capture ends: cudaSuccess\nstill 0\nend: cudaSuccess\n");
    cr_assert(strstr(strstr(output, "cublasStrsm") + 1, "emu: cublasStrsm") == NULL, "%s", output);
    expect_status(0, "$emu --log-file /dev/null $p/blas mersenne 2>&1");
    expect("generator 103\nrefused 103\nend: cudaSuccess\n");
    expect("emu: a generator of the type MT19937 is not supported (called by ");
    expect("emu: curandDestroyDistribution is not supported (called by ");
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

Test(libraries, right_programs_have_no_findings_slow)
{
    static const char *const ways[] = {"ordered", "triangle", "unit"},
                             *said[] = {"ordered 0 294393\n", "triangle 0\n", "unit 0\n"};
    for (int i = 0; i < 3; i++) {
        expect_status(0, "$emu --tool all --error-exitcode %d $p/blas %s 2>&1", FOUND, ways[i]);
        expect("ERROR SUMMARY: 0 errors");
        expect(said[i]);
    }
    expect_status(0, "$emu --tool all --error-exitcode %d %s/network 2>&1", FOUND, O3);
    expect("ERROR SUMMARY: 0 errors");
    expect(": right\n");
}

struct mistake {
    char way[16], tool[16];
    char said[4][160];
};

ParameterizedTestParameters(libraries, mistakes_are_found)
{
    static struct mistake mistakes[] = {
        {"before",
         "racecheck",
         {"Race reported between Write access at fill(float*, int)",
          "and Read access of cublasSgemm", ", cublasSgemm in stream 13 reads it\n",
          "The library was called at\n"}},
        {"after",
         "racecheck",
         {"Race reported between Write access of cublasSgemm",
          "and Write access at fill(float*, int)", ": cublasSgemm in stream 13 wrote it, ",
          "Host Frame: multiply(int, float const*, float const*) in "}},
        {"unwritten",
         "initcheck",
         {"Host API uninitialized memory access of size 4096", "cublasSgemm reads from 0x",
          "4096 of its 4096 bytes have not been written", "It was called at\n"}},
        {"added",
         "initcheck",
         {"access of size 4096\n", "cublasSgemm reads from 0x", "The first is at offset 0 of row 0",
          "added 0\n"}},
        {"part",
         "initcheck",
         {"access of size 128\n", "cublasStrmv reads from 0x",
          "128 of its 128 bytes have not been written", "Host Frame: triangle(bool) in "}},
        {"random",
         "racecheck",
         {"Race reported between Write access of curandGenerateUniform\n",
          "and Read access of cublasSgemm [1 hazards]\n", "The library was called at\n",
          "host memory 104\nrandom 0\n"}},
        {"outside",
         "memcheck",
         {"outside 13\n", "cublasSgemm reads memory that is not there: 4356 bytes from ",
          "The call was made at\n", "end: cudaErrorIllegalAddress"}},
        {"host",
         "memcheck",
         {"host 13\n", "cublasSgemm reads memory that is not there: 4096 bytes from ",
          "is it a pointer to memory of the host?", "end: cudaErrorIllegalAddress"}},
    };
    return cr_make_param_array(struct mistake, mistakes, sizeof mistakes / sizeof *mistakes);
}

ParameterizedTest(struct mistake *m, libraries, mistakes_are_found)
{
    expect_status(FOUND, "$emu --tool %s --error-exitcode %d $p/blas %s 2>&1", m->tool, FOUND,
                  m->way);
    for (int i = 0; i < 4; i++) expect(m->said[i]);
}

/* Without memcheck a fault is one line. */
Test(libraries, faults_are_told_without_a_checker)
{
    expect_status(0, "$emu --log-file /dev/null $p/blas outside 2>&1");
    expect("emu: cublasSgemm reads memory that is not there: ");
    expect("end: cudaErrorIllegalAddress");
}

/* ---- where they are -------------------------------------------------------------------------- */

/* The program has an RPATH to the toolkit's libraries, which come first without emu. */
Test(libraries, emu_alone_finds_them)
{
    expect_status(0, "$emu --log-file /dev/null $p/blas 2>&1");
    expect("emu: this libcublas.so.13 is the emulator's, not NVIDIA's, and computes on the CPU: ");
    expect_status(1, "ls ${emu%%/*}/libcublas* ${emu%%/*}/libcurand* 2>/dev/null | grep .");
    expect_status(1, "l=${emu%%/*}/libraries/lib; LD_LIBRARY_PATH=$l LD_PRELOAD=$l/libcublas.so.13 "
                     "$p/blas 2>&1");
    expect("and works on the emulator alone: run the program by emu");
    expect("created 1\n");
}

/* A runtime that is linked into the program is another one than the library works for. */
Test(libraries, a_static_runtime_is_told)
{
    expect_status(1, "$emu --log-file /dev/null $p/static-blas 2>&1");
    expect("emu: this libcublas.so.13 is the emulator's, not NVIDIA's, and works for "
           "libcudart.so.13 alone, and the program has a runtime linked into it: link it with nvcc "
           "-cudart shared\n");
    expect("created 1\n");
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

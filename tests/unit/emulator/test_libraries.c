/*
 * test_libraries.c — the libraries that take the place of NVIDIA's (common/tools/emu/libs): what
 * they say and return when they are used wrongly, what the checkers find in programs that use them,
 * and that no program finds them but by emu. What they compute is tested by programs/blas.cu.
 */
#include "tests/support/command.h"

#include <string.h>

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

/*
 * test_driver.c — the driver API (runtime/driver_*.c): what programs that use it wrongly are told,
 * and that checkers find in them what they find in programs of the runtime. What it does is tested
 * by programs/driver.cu and programs/nvrtc.cu.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"

#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

#define O3 ORDINARY_BUILD "/tests/cases/programs/O3"

TestSuite(driver, .init = command_init, .fini = command_fini, .timeout = 120);

/* ---- names ----------------------------------------------------------------------------------- */

Test(driver, no_name_of_nvidias_driver_is_missing)
{
    if (run("test -e $(common/build/toolkit.sh)/lib64/stubs/libcuda.so") != 0)
        cr_skip("the toolkit has no libcuda.so to compare with");
    expect_status(0, "names() { nm -D --defined-only $1 | sed -n 's/.* [TW] "
                     "\\(cu[A-Z][^@]*\\).*/\\1/p' | sort; }\n"
                     "names $(common/build/toolkit.sh)/lib64/stubs/libcuda.so >$t/nvidias\n"
                     "for l in libraries/lib/libcuda.so libcudart.so.13; do\n"
                     "    names ${emu%%/*}/$l | comm -13 - $t/nvidias\n"
                     "done\n"
                     "test $(wc -l <$t/nvidias) -gt 600");
    cr_assert_str_eq(output, "");
}

/* The runtime gives the driver's functions by their names, as the driver does. */
Test(driver, its_functions_by_name)
{
    CUresult (*init)(unsigned) = NULL;
    void *function = &function;
    enum cudaDriverEntryPointQueryResult result;
    ok(cudaGetDriverEntryPointByVersion("cuInit", (void **)&init, 12000, 0, &result));
    cr_assert(result == cudaDriverEntryPointSuccess && init(0) == CUDA_SUCCESS && init(1) != 0);
    ok(cudaGetDriverEntryPointByVersion("cuLibraryLoadData", &function, 11000, 0, &result));
    cr_assert(function == NULL && result == cudaDriverEntryPointVersionNotSufficent);
    ok(cudaGetDriverEntryPointByVersion("cuNothing", &function, 13000, 0, &result));
    cr_assert(function == NULL && result == cudaDriverEntryPointSymbolNotFound);
    is(cudaGetDriverEntryPointByVersion("cuNothing", &function, 13000, 0, NULL),
       cudaErrorSymbolNotFound);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* What is not offered is refused by name. Without a buffer for it, a message goes to stderr. */
Test(driver, programs_that_use_it_wrongly_are_told)
{
    RUNS({0, QUIET "$p/driver ptx",
          {"PTX CUDA_ERROR_INVALID_PTX\ntarget CUDA_ERROR_INVALID_PTX\n"
           "cubin CUDA_ERROR_NO_BINARY_FOR_GPU\nmanaged CUDA_ERROR_NOT_SUPPORTED\n",
           "emu: instruction 'mov.u32' in kernel k (the module's code, line 4): ",
           "emu: the module's code: its .target is sm_121, and the GPU is an sm_90: ",
           "emu: the module's code is machine code for GPUs (a cubin), which the emulator does not "
           "execute; give it the PTX instead, which nvcc -ptx and nvrtcGetPTX make\n",
           "emu: the module's code has a __managed__ variable"}},
         {0, QUIET "$p/driver dead",
          {"set CUDA_ERROR_CONTEXT_IS_DESTROYED\ndestroy CUDA_ERROR_CONTEXT_IS_DESTROYED\n"
           "no handle CUDA_ERROR_INVALID_CONTEXT\nend\n"}},
         {0, QUIET "$p/driver buffers",
          {"short CUDA_SUCCESS\nelement 0\nend\n",
           "emu: a launch of add gives its parameters in a buffer of 8 bytes, and they take 12\n"}},
         {0, "EMU_DEVICES=2 " QUIET "$p/driver devices",
          {"elsewhere CUDA_ERROR_INVALID_HANDLE\ndevice 1\ndevice 0 holds 2\nend\n"}},
         {0, QUIET "$p/driver outside",
          {"launch CUDA_SUCCESS\nsynchronize CUDA_ERROR_ILLEGAL_ADDRESS\n"
           "later CUDA_ERROR_ILLEGAL_ADDRESS\nlater launch CUDA_ERROR_ILLEGAL_ADDRESS\n",
           "is out of bounds"}},
         {0, QUIET "$p/driver load $p/zstd.fatbin", {"load CUDA_SUCCESS\n2 kernels\n"}},
         {0, QUIET "$p/driver load $p/lz4.fatbin", {"load CUDA_SUCCESS\n2 kernels\n"}},
         {0, QUIET "$p/driver load $p/stored.fatbin", {"load CUDA_SUCCESS\n2 kernels\n"}},
         {0, QUIET "$p/driver load $p/cubin.fatbin",
          {"load CUDA_ERROR_NO_BINARY_FOR_GPU\n0 kernels\n",
           "emu: the program holds no PTX for sm_90, but: sm_90 (sm_NN is machine code, "}},
         {0, "head -c 100 $p/zstd.fatbin >$t/cut; " QUIET "$p/driver load $t/cut",
          {"load CUDA_ERROR_INVALID_IMAGE\n",
           "/cut is a fat binary that is cut off or damaged\n"}},
         {0, QUIET "$p/driver refused",
          {"array CUDA_ERROR_NOT_SUPPORTED\narray CUDA_ERROR_NOT_SUPPORTED\n"
           "object CUDA_ERROR_NOT_SUPPORTED\nend\n",
           "emu: cuArrayCreate_v2 is not supported (called by ",
           "): use the runtime's arrays (cudaMallocArray) instead\n",
           "emu: linking machine code, objects or NVVM code is not supported"}});
    cr_assert(strstr(strstr(output, "cuArrayCreate") + 1, "emu: cuArrayCreate") == NULL, "%s",
              output);
}

/* The checkers find what they find in programs of the runtime. */
Test(driver, mistakes_are_found)
{
#define CHECK(tools) "$emu --error-exitcode 9 --tool " tools " $p/driver "
    RUNS({9, CHECK("racecheck") "race", {"Race reported between Write access at add"}},
         {9, CHECK("memcheck") "outside", {"Invalid __global__ read of size 4 bytes"}},
         {9, CHECK("memcheck --leak-check full") "leak", {"Leaked 200 bytes"}},
         {9, CHECK("memcheck") "free",
          {"CUDA_ERROR_INVALID_VALUE (error 1) due to \"invalid argument\" on CUDA API call to "
           "cuMemFree_v2.", "was freed before: a double free"}},
         {9, CHECK("initcheck") "unwritten",
          {"Uninitialized __global__ memory read of size 4 bytes"}},
         {9, CHECK("memcheck") "dead", {"CUDA_ERROR_CONTEXT_IS_DESTROYED (error 709)"}});
}

Test(driver, right_programs_have_no_findings_slow)
{
    RUNS({0, "$emu --tool racecheck --error-exitcode 9 " O3 "/driver driver_launch", {NULL}},
         {0, "$emu --tool racecheck --error-exitcode 9 " O3 "/driver driver_memory", {NULL}});
}

/* ---- code ------------------------------------------------------------------------------------ */

#define gives(call, error) is((int)(call), (cudaError_t)(error))

/* What cuModuleLoadData says to a text; the message goes to the buffer. */
static int load(const char *body, char *log, size_t size)
{
    char text[1000];
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)size};
    snprintf(text, sizeof text, ".version 8.0\n.target sm_75\n.address_size 64\n%s", body);
    return (int)cuModuleLoadDataEx(&module, text, 2, options, values);
}

static void begin(void)
{
    CUcontext context;
    ok((int)cuInit(0));
    ok((int)cuDevicePrimaryCtxRetain(&context, 0));
    ok((int)cuCtxSetCurrent(context));
}

/* As an H200's driver does: at the load, with the line in the log. */
Test(driver, wrong_ptx_is_told_when_it_is_loaded)
{
#define BODY(text) ".visible .entry k() {\n.reg .b32 %r<3>;\n" text "\nret; }\n"
    static const struct {
        const char *body, *says;
    } wrong[] = {
        {BODY("add.u32 %r1, %r2, %r99;"), "line 6): %r99 is neither a declared register"},
        {BODY("bra nowhere;"), "line 6): label 'nowhere' is not defined"},
        {BODY("frob.u32 %r1, %r2;"), "line 6): PTX has no such operation"},
        {BODY("mul.u32 %r1, %r2, %r1;"), "line 6): it needs one of .lo, .hi, .wide"},
        {BODY("fence.frob.cta;"), "line 6): modifier '.frob' is not supported"},
        {BODY("mov.u32 %r1, %tid.q;"), "line 6): %tid.q is neither"},
        {BODY("mov.u32 %r1, %envreg32;"), "line 6): %envreg32 is neither"},
        {BODY("call k;"), "line 6): 'k' is a kernel"},
        {".func f() { bra nowhere; }", "function f (the module's code, line 4): label 'nowhere'"},
        {BODY("") ".func f() {\nfrob; }", "'frob' in function f (the module's code, line 9)"},
        {".global .u64 g = nothing;", "line 4: the initial value of 'g'"},
        {".extern .func f();\n" BODY("call f;"), "line 7): function 'f' is defined elsewhere"},
        {".extern .func f();\n.func g() { call f; }", "line 5): function 'f' is defined elsewhere"},
    };
    begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char log[500] = "";
        gives(load(wrong[i].body, log, sizeof log), CUDA_ERROR_INVALID_PTX);
        cr_expect(strstr(log, wrong[i].says), "%s: %s", wrong[i].body, log);
    }
}

/* It is right PTX that the emulator does not support, so the module loads without it. */
Test(driver, what_is_not_supported_is_told_for_its_kernel)
{
    static const char text[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry a() { ret; }\n"
        ".func f() { .reg .b32 %r<3>; vadd.s32.s32.s32 %r1, %r2, %r2; }\n"
        ".visible .entry b() { wgmma.fence.sync.aligned; }\n"
        ".visible .entry c() { .reg .b32 %r; mov.u32 %r, %pm0; }\n";
    CUmodule module;
    CUfunction f;
    begin();
    cr_redirect_stderr();
    ok((int)cuModuleLoadData(&module, text));
    ok((int)cuModuleGetFunction(&f, module, "a"));
    gives(cuModuleGetFunction(&f, module, "b"), CUDA_ERROR_NOT_SUPPORTED);
    gives(cuModuleGetFunction(&f, module, "c"), CUDA_ERROR_NOT_SUPPORTED);
}

static int add_text(CUlinkState state, const char *body)
{
    char text[1000];
    int length =
        snprintf(text, sizeof text, ".version 8.0\n.target sm_75\n.address_size 64\n%s", body);
    return (int)cuLinkAddData(state, CU_JIT_INPUT_PTX, text, (size_t)length, "part", 0, NULL, NULL);
}

/* As on an H200: wrong PTX when it is added, and a missing function at the end. */
Test(driver, mistakes_in_what_is_linked)
{
    char log[500] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image;
    CUlinkState link;
    CUmodule module;
    size_t bytes;
    begin();
    ok((int)cuLinkCreate(2, options, values, &link));
    gives(add_text(link, ".func f() { frob; }"), CUDA_ERROR_INVALID_PTX);
    cr_assert(strstr(log, "'frob' in function f (part, line 4)"), "%s", log);
    ok(add_text(link, ".extern .func f();\n.visible .entry k() { call f; ret; }"));
    gives(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_UNKNOWN);
    cr_assert(strstr(log, "function 'f' is defined elsewhere"), "%s", log);
    ok((int)cuLinkDestroy(link));
    ok((int)cuLinkCreate(2, options, values, &link));
    ok(add_text(link, ".extern .func f();\n.extern .global .u32 v;\n.global .u64 a = v;\n"));
    ok(add_text(link, ".visible .func f() { ret; }\n.visible .global .u32 v;"));
    ok((int)cuLinkComplete(link, &image, &bytes));
    ok((int)cuModuleLoadData(&module, image));
    ok((int)cuLinkDestroy(link));
}

/* What Numba links for a kernel with this_grid().sync(). */
Test(driver, a_grid_synchronises_by_the_device_runtime)
{
    static const char kernel[] =
        ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s);\n"
        ".extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %a, %h, %b; .reg .b32 %r;\n"
        "ld.param.u64 %a, [p]; red.global.add.u32 [%a], 1;\n"
        "{ .param .b64 h; .param .b32 s; st.param.b32 [s], 1;\n"
        "call (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [h]; }\n"
        "{ .param .b32 e; .param .b64 h; .param .b32 f; st.param.b64 [h], %h;\n"
        "st.param.b32 [f], 0; call (e), cudaCGSynchronize, (h, f); }\n"
        "mov.u32 %r, %ctaid.x; mad.wide.u32 %b, %r, 4, %a;\n"
        "ld.global.u32 %r, [%a]; st.global.u32 [%b+4], %r; ret; }";
    CUdeviceptr counts;
    CUlinkState link;
    CUmodule module;
    CUfunction k;
    void *image, *arguments[] = {&counts};
    int seen[5];
    begin();
    ok((int)cuMemAlloc(&counts, sizeof seen));
    ok((int)cuMemsetD32(counts, 0, 5));
    ok((int)cuLinkCreate(0, NULL, NULL, &link));
    ok(add_text(link, kernel));
    ok((int)cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/lib/libcudadevrt.a", 0, NULL, NULL));
    ok((int)cuLinkComplete(link, &image, NULL));
    ok((int)cuModuleLoadData(&module, image));
    ok((int)cuModuleGetFunction(&k, module, "k"));
    ok((int)cuLaunchCooperativeKernel(k, 4, 1, 1, 40, 1, 1, 0, NULL, arguments));
    ok((int)cuMemcpyDtoH(seen, counts, sizeof seen));
    for (int i = 0; i < 5; i++) cr_expect_eq(seen[i], 160);
}

Test(driver, parameters_of_a_context_may_be_zeros)
{
    CUcontext context;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    begin();
    ok((int)cuCtxCreate_v4(&context, &(CUctxCreateParams){0}, 0, 0));
    ok((int)cuStreamGetCaptureInfo(NULL, &status, NULL, NULL, NULL, NULL, NULL));
    cr_assert_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    ok((int)cuCtxDestroy(context));
}

Test(driver, nvrtc_compiles_for_it_slow, .timeout = 300)
{
    if (run("test -e $(common/build/toolkit.sh)/include/nvrtc.h") != 0)
        cr_skip("the toolkit has no NVRTC");
    expect_status(0, "$emu --log-file /dev/null run tests/cases/programs/nvrtc.cu 2>&1");
    expect(" -lcuda -lnvrtc\n");
    expect("while the program runs: right\n");
    expect_not("not supported");
}

/* ---- where it is ----------------------------------------------------------------------------- */

Test(driver, emu_alone_finds_it)
{
    expect_status(0, "ls -R ${emu%%/*}");
    expect_not("libcuda.so.1");
    expect_status(
        0, "printf 'import ctypes, sys\\nprint(ctypes.CDLL(sys.argv[1]).cuInit(0))' >$t/i.py;"
           "for l in libcuda.so libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so.1; do "
           "$emu --log-file /dev/null python3 $t/i.py $l; done 2>/dev/null");
    expect("0\n0\n0\n");
}

/* The emulator's runtime for static linking has the driver API, too. A program's own names of that
 * kind come first, and no second one with devices of its own is loaded. */
Test(driver, in_a_static_program)
{
    expect_status(
        0, "cat >$t/own.cpp <<'END'\n"
           "extern \"C\" { int (*cuInit)(unsigned); int cuDriverGetVersion(int *);"
           "int cudaFree(void *); }\n"
           "int main() { int v = 0; cudaFree(0);"
           "return cuInit || cuDriverGetVersion(&v) || v < 13000; }\nEND\n"
           "cat >$t/both.cpp <<'END'\n"
           "#include <dlfcn.h>\n"
           "extern \"C\" int cuInit(unsigned), cudaFree(void *);\n"
           "int main() { void *l = dlopen(\"libcuda.so.1\", RTLD_NOW);"
           "cudaFree(0); return cuInit(0) || ((int (*)(unsigned))dlsym(l, \"cuInit\"))(0) != 34; "
           "}\nEND\n"
           "for p in own both; do g++ $t/$p.cpp -L${emu%%/*} -L${emu%%/*}/libraries/lib -lcuda "
           "-lcudart_static -ldl -lpthread -lrt -lm -o $t/$p && "
           "$emu --tool memcheck $t/$p 2>&1 || exit 1; done");
    const char *second = strstr(output, "ERROR SUMMARY: 0 errors\n");
    cr_assert(second != NULL && strstr(second + 1, "ERROR SUMMARY") != NULL, "%s", output);
    second = strstr(strstr(second + 1, "ERROR SUMMARY") + 1, "ERROR SUMMARY");
    cr_assert(second == NULL, "%s", output); /* one for each program */
}

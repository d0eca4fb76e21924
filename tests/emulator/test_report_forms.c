/*
 * test_report_forms.c — functions that the runtime library does not support: they exist, and report
 * that they are not supported.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A program that is linked to NVIDIA's library also starts with the emulator's. */
Test(refused, every_name_of_nvidias_library_is_there)
{
    char line[512], name[256];
    int names = 0;
    FILE *list =
        popen("nm -D --defined-only $(common/build/toolkit.sh)/lib64/libcudart.so.13", "r");
    while (fgets(line, sizeof line, list) != NULL) {
        if (sscanf(line, "%*s T %255[^@\n]", name) != 1) continue;
        if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0) continue;
        names++;
        cr_assert(dlvsym(RTLD_DEFAULT, name, "libcudart.so.13") != NULL, "%s", name);
    }
    cr_assert(pclose(list) == 0 && names > 400, "%d names", names);
}

/* AddressSanitizer's own backtrace() begins in itself, so callers have no line under it. */
#ifdef __SANITIZE_ADDRESS__
#define CALLER_FILE ""
#else
#define CALLER_FILE "test_refused.c:"
#endif

Test(refused, by_name_and_once)
{
    cr_redirect_stderr();
    cudaMipmappedArray_t array;
    struct cudaChannelFormatDesc description = cudaCreateChannelDesc(32, 0, 0, 0, 2);
    struct cudaExtent extent = {16, 16, 0};
    cr_assert(description.x == 32 && description.f == cudaChannelFormatKindFloat);
    is(cudaMallocMipmappedArray(&array, &description, extent, 2, 0), cudaErrorNotSupported);
    is(cudaMallocMipmappedArray(&array, &description, extent, 2, 0), cudaErrorNotSupported);
    is(cudaGetLastError(), cudaErrorNotSupported);
    struct cudaMemPoolPtrExportData data;
    is(cudaMemPoolExportPointer(&data, NULL), cudaErrorNotSupported);
    const char *said = read_stderr();
    const char *const sentences[] = {
        "emu: cudaMallocMipmappedArray is not supported (called by ",
        CALLER_FILE,
        "): arrays have no mipmaps, planes and unmapped tiles; use an array of cudaMallocArray for "
        "each level instead\nemu: cudaMemPoolExportPointer is not supported (called by ",
        "): memory of pools cannot be shared with other processes; share memory of cudaMalloc by "
        "cudaIpcGetMemHandle\n",
    };
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        said = strstr(said, sentences[i]);
        cr_assert(said != NULL, "%s", sentences[i]);
    }
}

/* Each names the feature, the line in the source, and what to do instead. */
/* addr2line would name the function before it that is exported. */
Test(refused, a_caller_without_a_name_is_its_file, .init = command_init, .fini = command_fini)
{
    expect_status(0, "echo 'int first(void) { return 0; }"
                     " static int hidden(int f(void)) { return f() + 1; }"
                     " int (*const caller)(int(void)) = hidden;' |"
                     " gcc -shared -fPIC -s -x c - -o $t/libhidden.so &&"
                     " echo 'extern int (*const caller)(int(void)); int cuGLInit(void);"
                     " int main(void) { return caller(cuGLInit) != 802; }' |"
                     " gcc -x c - -x none $t/libhidden.so $(dirname $emu)/libraries/lib/libcuda.so"
                     " -o $t/a");
    expect_status(0, "$emu --log-file /dev/null $t/a 2>&1");
    expect("emu: cuGLInit is not supported (called by libhidden.so): there is no OpenGL, EGL");
}

Test(refused, features_of_kernels, .init = command_init, .fini = command_fini)
{
    static const char *const features[][3] = {
        {"video", "add(int*)",
         "the emulator has no video instructions but vabsdiff2 and vabsdiff4; compute the parts by "
         "integer operations instead"},
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        expect_status(0, "$emu --log-file /dev/null $p/refused %s 2>&1", features[i][0]);
        expect(features[i][1]);
        expect("/refused.cu:");
        expect(features[i][2]);
        expect("cudaErrorNotSupported\n");
        expect_not("cudaErrorUnsupportedPtxVersion");
    }
}

/* A kernel that could not run is in the reports, and neither counted nor checked. */
Test(refused, kernels_count_as_failed, .init = command_init, .fini = command_fini)
{
    expect_status(9, "$emu --page raw --error-exitcode 9 $p/refused video 2>&1");
    expect("  add (1, 1, 1)x(");
    expect("    the kernel failed: operation not supported");
    expect_status(9, "$emu --error-exitcode 9 --tool racecheck $p/refused video 2>&1");
    expect_status(0, "$emu --json $p/refused video 2>/dev/null");
    expect("\"kernel\": \"add\"");
    expect("\"error\": \"cudaErrorNotSupported\"");
}

/* ---- properties of a device ------------------------------------------------------------------ */

/* Properties and attributes of the same quantity are equal. */
Test(properties, attributes_say_the_same)
{
    struct cudaDeviceProp p;
    int value;
    ok(cudaGetDeviceProperties(&p, 0));
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
        {cudaDevAttrTextureAlignment, (int)p.textureAlignment},
        {cudaDevAttrHostNumaId, 0},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
        {cudaDevAttrMaxTexture2DWidth, 131072},
        {cudaDevAttrMaxSurface2DLayeredLayers, p.maxSurface2DLayered[2]},
        {cudaDevAttrMaxTexture1DMipmappedWidth, p.maxTexture1DMipmap},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ok(cudaDeviceGetAttribute(&value, pairs[i].attribute, 0));
        cr_assert(value == pairs[i].value, "attribute %d: %d", pairs[i].attribute, value);
    }
    is(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)0, 0), cudaErrorInvalidValue);
    is(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
    is(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}

Test(properties, places_on_the_bus)
{
    setenv("EMU_DEVICES", "3", 1);
    char id[32];
    int device;
    ok(cudaDeviceGetPCIBusId(id, sizeof id, 2));
    cr_assert_str_eq(id, "0000:02:00.0");
    ok(cudaDeviceGetByPCIBusId(&device, id));
    cr_assert(device == 2);
    ok(cudaDeviceGetByPCIBusId(&device, "01:00.0"));
    cr_assert(device == 1);
    is(cudaDeviceGetByPCIBusId(&device, "0000:03:00.0"), cudaErrorInvalidDevice);
    is(cudaDeviceGetByPCIBusId(&device, "here"), cudaErrorInvalidValue);
    is(cudaDeviceGetPCIBusId(id, 12, 0), cudaErrorInvalidValue);
}

Test(properties, parameters_of_a_kernel)
{
    size_t offset, size;
    ok(cudaFuncGetParamInfo(add_kernel(), 1, &offset, &size));
    cr_assert(offset == 8 && size == 4);
    is(cudaFuncGetParamInfo(add_kernel(), 2, &offset, &size), cudaErrorInvalidValue);
}

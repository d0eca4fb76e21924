/*
 * test_report_forms.c — what is refused, and forms of the report.
 */
#define _GNU_SOURCE /* open_memstream */
#include "common/tools/emu/report/report.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that the runtime library does not support ------------------------------------- */

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
#define CALLER_FILE "test_report_forms.c:"
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

/* A kernel that could not run is in the reports, and neither counted nor checked. */
Test(refused, features_of_kernels, .init = command_init, .fini = command_fini)
{
    RUNS({1, QUIET "$p/launches video",
          {"add(int*)", "/launches.cu:",
           "the emulator has no video instructions but vabsdiff2 and vabsdiff4; compute the parts "
           "by integer operations instead", "operation not supported\n"}},
         {9, "$emu --page raw --error-exitcode 9 $p/launches video",
          {"  add (1, 1, 1)x(", "    the kernel failed: operation not supported"}},
         {9, "$emu --error-exitcode 9 --tool racecheck $p/launches video", {NULL}},
         {1, "$emu --json $p/launches video",
          {"\"kernel\": \"add\"", "\"error\": \"cudaErrorNotSupported\""}});
}

/* ---- properties of a device ------------------------------------------------------------------ */

/* Properties and attributes of the same quantity are equal. */
Test(properties, attributes_say_the_same)
{
    int value;
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 0);
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
    ok(cudaDeviceGetPCIBusId(id, sizeof id, 2));
    cr_assert_str_eq(id, "0000:02:00.0");
    cr_assert(given(int, cudaDeviceGetByPCIBusId, id) == 2);
    int device = given(int, cudaDeviceGetByPCIBusId, "01:00.0");
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

/* ---- emu --lenient --------------------------------------------------------------------------- */

/* Faulty programs that the default stops go on as on a GPU, and each fault is reported once
 * (reported.cu). */

TestSuite(lenient, .init = command_init, .fini = command_fini, .timeout = 120);

#define FAULTY "$p/reported lenient "
#define READ   "Invalid __global__ read of size 4 bytes"
#define HINTED "so does emu --lenient"

static const struct fault {
    const char *name;
    unsigned findings;
    const char *strict; /* said without --lenient */
    const char *said[2];
} faults[] = {
    {"stencil", 1, HINTED, {READ, "the access reads what is there"}},
    {"managed", 1, HINTED, {READ, "the access reads 0"}},
    {"unguarded", 2, HINTED, {"Invalid __global__ write of size 4 bytes", "is not carried out"}},
    {"leaves",
     1,
     HINTED,
     {"Barrier error detected. Divergent thread(s) in block.",
      "a barrier that not all threads reach: 98 wait here, 30 have exited"}},
    {"tile", 1, HINTED, {"Invalid __shared__ read of size 4 bytes", "of the 392 bytes of shared"}},
    {"vectors", 2, HINTED, {"Invalid __global__ write of size 16 bytes", "is carried out"}},
    {"bins", 1, HINTED, {"Invalid __global__ atomic of size 4 bytes", "is not carried out"}},
    {"unset", 0, "bytes before the allocation of 392 bytes", {"no error", "4753"}},
};
enum { FAULTS = sizeof faults / sizeof *faults };

Test(lenient, the_default_stops_and_names_the_option)
{
    for (size_t i = 0; i < FAULTS; i++) {
        const struct fault *f = &faults[i];
        expect_status(1, QUIET FAULTY "%s 2>&1", f->name);
        expect(f->strict);
    }
}

/* The report names the place, and the exit code is the program's. */
Test(lenient, a_fault_is_reported_once)
{
    for (size_t i = 0; i < FAULTS; i++) {
        const struct fault *f = &faults[i];
        char summary[60];
        expect_status(0, QUIET "--lenient " FAULTY "%s 2>&1", f->name);
        for (int k = 0; k < 2; k++) expect(f->said[k]);
        cr_assert_eq(count_of("emu:     --lenient: "), f->findings, "%s:\n%s", f->name, output);
        cr_assert_eq(count_of("reported.cu:"), f->findings, "%s:\n%s", f->name, output);
        snprintf(summary, sizeof summary, "ERROR SUMMARY: %u error", f->findings);
        expect_status(0, "$emu --lenient --tool memcheck " FAULTY "%s 2>&1", f->name);
        expect(summary);
        expect_status(0, "$emu --lenient --json " FAULTY "%s 2>&1", f->name);
        cr_assert_eq(count_of("\"title\""), f->findings, "%s:\n%s", f->name, output);
    }
}

/* Whoever asks for an exit code wants to notice faults. */
Test(lenient, reports_and_exit_codes)
{
    RUNS({0, QUIET "--lenient --sarif $t/sarif --html $t/html " FAULTY "tile", {NULL}},
         {0, "cat $t/sarif", {"Invalid __shared__ read of size 4 bytes"}},
         {0, "grep -A3 'Invalid __shared__ read of size 4 bytes' $t/html", {NULL}},
         {9, QUIET "--lenient --error-exitcode 9 " FAULTY "tile", {NULL}},
         {9, "$emu --lenient --error-exitcode 9 --tool synccheck " FAULTY "tile", {NULL}},
         {0, QUIET "--lenient --error-exitcode 9 " FAULTY "unset", {NULL}},
         {9, "$emu --lenient --error-exitcode 9 --tool initcheck " FAULTY "unset",
          {"Uninitialized __global__ memory read of size 4 bytes"}});
}

static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};
static const char *const gpus[] = {"h200", "h100", "a100", "t4", "rtx4090", "b200"};

/* Nothing but the fault is found, and nothing twice. */
Test(lenient, every_checker_and_model)
{
    for (size_t i = 0; i < FAULTS; i++)
        for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
            const struct fault *f = &faults[i];
            bool is_init = k == 2 || k == 4;
            char summary[60];
            expect_status(0, "$emu --lenient --schedule %zu --tool %s " FAULTY "%s 2>&1", k + 1,
                          tools[k], f->name);
            snprintf(summary, sizeof summary, "ERROR SUMMARY: %u error",
                     f->findings + (is_init && !f->findings));
            if (f->findings || k != 1) expect(summary);
        }
    for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++)
        expect_status(0, QUIET "--lenient --gpu %s " FAULTY "stencil 2>&1", gpus[k]);
}

/* A page that holds no allocation is not mapped. */
Test(lenient, what_a_gpu_does_not_let_pass)
{
    static const char *const cases[][2] = {
        {"far", "a store of 4 bytes at global address 0x3000020"}, {"null", "(a null pointer)"}};
    for (size_t i = 0; i < 2; i++)
        for (int lenient = 0; lenient < 2; lenient++) {
            expect_status(1, QUIET "%s " FAULTY "%s 2>&1", lenient ? "--lenient" : "",
                          cases[i][0]);
            expect("an illegal memory access was encountered");
            expect(cases[i][1]);
            expect_not(HINTED);
        }
}

/* The load of the last vectors and their store are one request each, as on a GPU. */
Test(lenient, what_is_counted)
{
    RUNS({0, "$emu --lenient --json --log-file /dev/stdout " FAULTY "vectors",
          {"\"global_load\": {\"requests\": 1,", "\"global_store\": {\"requests\": 1,"}},
         {0, "$emu --lenient --json --log-file /dev/stdout " FAULTY "stencil",
          {"\"global_load\": {\"requests\": 12,"}});
}

/* ---- the forms of a report for programs ------------------------------------------------------ */

/* Names of files that contain the special characters of the form. */

/* One conflict, at a line of a file whose name is `file`; and a finding there. */
static char *form_of(void (*write)(FILE *, const struct document *), const char *file)
{
    struct emu_line line = {.file = file, .line = 7};
    line.counts.shared_ld = (struct emu_shared){.instructions = 1, .wavefronts = 3, .ideal = 1};
    struct emu_finding finding = {.tool = EMU_CHECK_RACE,
                                  .kind = "read-after-write",
                                  .title = "a: 100 %, \"b\"",
                                  .kernel = "k",
                                  .place = {.is_known = true, .file = file, .line = 7},
                                  .head = "one\ntwo",
                                  .count = 2};
    struct document_launch launch = {
        .record = {.kernel = "k", .agreement = {.text = ""}, .line_count = 1, .lines = &line}};
    struct document_finding found = {.finding = &finding};
    const struct document d = {.program = "p",
                               .gpu = emu_gpu_at(0),
                               .root = "/r",
                               .launches = &launch,
                               .launch_count = 1,
                               .findings = &found,
                               .finding_count = 1};
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(out, &d);
    fclose(out);
    return text;
}

static void expect_form(void (*write)(FILE *, const struct document *), const char *file,
                        const char *part)
{
    char *text = form_of(write, file);
    cr_expect(strstr(text, part), "%s is not in\n%s", part, text);
    free(text);
}

Test(report_forms, uris_escape_what_they_must)
{
    expect_form(document_write_sarif, "/r/a b%c\"d,e:f.cu",
                "\"uri\": \"a%20b%25c%22d%2Ce%3Af.cu\"");
    expect_form(document_write_sarif, "/r/\xc3\xa9\xff.cu", "\"uri\": \"%C3%A9%FF.cu\"");
    expect_form(document_write_sarif, "/elsewhere/a.cu", "\"uri\": \"file:///elsewhere/a.cu\"");
    expect_form(document_write_sarif, "/rest/a.cu", "\"uri\": \"file:///rest/a.cu\"");
}

Test(report_forms, workflow_commands_escape_what_they_must)
{
    expect_form(document_write_warnings, "/r/a%b,c:d\n.cu",
                "::error file=a%25b%2Cc%3Ad%0A.cu,line=7,title=a%3A 100 %25%2C \"b\"::one%0Atwo\n");
    expect_form(document_write_warnings, "/r/a.cu",
                "::warning file=a.cu,line=7,title=bank conflicts::2 bank conflicts: shared memory "
                "takes 3 wavefronts, and 1 would do\n");
}

Test(report_forms, json_escapes_file_names)
{
    expect_form(document_write_json, "/r/a\"\\\x01\x1b\xff\xed\xa0\x80.cu",
                "\"file\": \"/r/a\\\"\\\\\\u0001\\u001b\\ufffd\\ufffd\\ufffd\\ufffd.cu\"");
}

static void expect_path(const char *path, const char *root, const char *expected)
{
    char seen[PATH_MAX];
    source_path(path, root, seen);
    cr_expect_str_eq(seen, expected, "%s in %s is %s, not %s", path, root, seen, expected);
}

Test(report_forms, paths_in_a_folder)
{
    static const char *const cases[][3] = {{"/r/a.cu", "/r", "a.cu"},
                                           {"/r/a.cu", "/r/", "a.cu"},
                                           {"/rest/a.cu", "/r", "/rest/a.cu"},
                                           {"a.cu", "/r", "a.cu"},
                                           {"/r/a.cu", NULL, "/r/a.cu"},
                                           {"/a.cu", "/", "a.cu"},
                                           {"/r", "/r", "/r"},
                                           {"/r/..a/b..cu", "/r", "..a/b..cu"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_path(cases[i][0], cases[i][1], cases[i][2]);
}

/* The folder is real/top, and link is another name of real/top/below. */
Test(report_forms, paths_through_links, .init = command_init, .fini = command_fini)
{
    char path[PATH_MAX], root[PATH_MAX];
    cr_assert_eq(
        run("cd $t && mkdir -p real/top/below && touch real/top/a.cu real/top/below/b.cu &&"
            " ln -s real/top/below link && cd real/top && pwd -P"),
        0);
    snprintf(root, sizeof root, "%.*s", (int)strcspn(output, "\n"), output);
    cr_assert(snprintf(path, sizeof path, "%s/link/../a.cu", folder) < PATH_MAX);
    expect_path(path, root, "a.cu");
    cr_assert(snprintf(path, sizeof path, "%s/link/b.cu", folder) < PATH_MAX);
    expect_path(path, root, "below/b.cu");
}

/* The fields with a | behind each, or "wrong". */
static void expect_fields(const char *line, const char *wanted)
{
    char text[100], seen[200] = "";
    size_t count;
    snprintf(text, sizeof text, "%s", line);
    char **fields = csv_line_split(text, &count);
    for (size_t i = 0; fields != NULL && i < count; i++) {
        strcat(seen, fields[i]);
        strcat(seen, "|");
    }
    cr_expect_str_eq(fields != NULL ? seen : "wrong", wanted, "%s", line);
    free(fields);
}

Test(report_forms, csv_lines)
{
    expect_fields("a,b,c\n", "a|b|c|");
    expect_fields("", "|");
    expect_fields(",\n", "||");
    expect_fields("\"a,b\",\"c\"\"d\",\"\"", "a,b|c\"d||");
    expect_fields("\"a\",b\r\n", "a|b|");
    expect_fields("\"a", "wrong");
    expect_fields("\"a\"b,c", "wrong");
}
